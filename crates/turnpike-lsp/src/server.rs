//! The server: one thread that answers in order. Every keystroke gets a quick analysis at once; the whole check follows
//! when the editor is quiet.

use std::collections::BTreeMap;
use std::time::Duration;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self as told, Notification as _};
use lsp_types::request::{self as asked, Request as _};
use lsp_types::{
    CodeLensOptions, CompletionOptions, DocumentSymbolResponse, GotoDefinitionResponse,
    HoverProviderCapability, OneOf, PublishDiagnosticsParams, ServerCapabilities, TextDocumentSyncCapability,
    TextDocumentSyncKind, Uri,
};
use serde::Serialize;

use crate::analysis::Language;
use crate::answers::{Document, Related};
use crate::related;
use crate::text::Text;

/// Why the server ended early.
pub type ServeError = Box<dyn std::error::Error + Send + Sync>;

/// The editor is quiet after so long.
const QUIET: Duration = Duration::from_millis(300);

/// Serves one editor over standard input and output, until it says goodbye.
pub fn serve() -> Result<(), ServeError> {
    let (connection, threads) = Connection::stdio();
    let capabilities = ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Left(true)),
        completion_provider: Some(CompletionOptions::default()),
        document_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_lens_provider: Some(CodeLensOptions { resolve_provider: Some(false) }),
        ..ServerCapabilities::default()
    };
    connection.initialize(serde_json::to_value(capabilities)?)?;
    let mut server = Server { connection: &connection, documents: BTreeMap::new() };
    server.run()?;
    drop(connection);
    threads.join()?;
    Ok(())
}

struct Server<'a> {
    connection: &'a Connection,
    documents: BTreeMap<String, Open>,
}

struct Open {
    uri: Uri,
    document: Document,
    /// Whether the whole check is still to be done.
    unchecked: bool,
}

impl Server<'_> {
    fn run(&mut self) -> Result<(), ServeError> {
        loop {
            let message = if self.documents.values().any(|one| one.unchecked) {
                match self.connection.receiver.recv_timeout(QUIET) {
                    Ok(message) => message,
                    Err(error) if error.is_timeout() => {
                        self.check()?;
                        continue;
                    }
                    Err(_) => return Ok(()),
                }
            } else {
                let Ok(message) = self.connection.receiver.recv() else { return Ok(()) };
                message
            };
            match message {
                Message::Request(request) => {
                    if self.connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    let response = self.answer(request);
                    self.connection.sender.send(response.into())?;
                }
                Message::Notification(notification) => self.note(notification)?,
                Message::Response(_) => {}
            }
        }
    }

    /// Checks a document wholly.
    fn check(&mut self) -> Result<(), ServeError> {
        let Some(open) = self.documents.values_mut().find(|one| one.unchecked) else { return Ok(()) };
        open.unchecked = false;
        let diagnostics = open.document.check();
        let shown = open.document.show(&diagnostics);
        publish(self.connection, open.uri.clone(), shown)
    }

    fn note(&mut self, notification: Notification) -> Result<(), ServeError> {
        match notification.method.as_str() {
            told::DidOpenTextDocument::METHOD => {
                let Some(opened) = parameters::<told::DidOpenTextDocument>(notification.params) else {
                    return Ok(());
                };
                let uri = opened.text_document.uri;
                let Some(language) = Language::of_file(uri.as_str()) else { return Ok(()) };
                let text = opened.text_document.text;
                let related = self.related(language, uri.as_str(), &text);
                let document = Document::new(language, text, related);
                self.documents
                    .insert(uri.as_str().to_owned(), Open { uri: uri.clone(), document, unchecked: true });
                self.publish_quickly(uri.as_str())?;
                self.relate_formulas(language)
            }
            told::DidChangeTextDocument::METHOD => {
                let Some(changed) = parameters::<told::DidChangeTextDocument>(notification.params) else {
                    return Ok(());
                };
                let uri = changed.text_document.uri;
                let Some(open) = self.documents.get_mut(uri.as_str()) else { return Ok(()) };
                for change in changed.content_changes {
                    open.document.text.change(change);
                }
                let language = open.document.language;
                self.analyse(uri.as_str())?;
                self.relate_formulas(language)
            }
            told::DidCloseTextDocument::METHOD => {
                let Some(closed) = parameters::<told::DidCloseTextDocument>(notification.params) else {
                    return Ok(());
                };
                self.documents.remove(closed.text_document.uri.as_str());
                publish(self.connection, closed.text_document.uri, Vec::new())
            }
            _ => Ok(()),
        }
    }

    /// The specification that a formula is about: as it is in the editor, or else in its file.
    fn related(&self, language: Language, uri: &str, text: &str) -> Option<Related> {
        if language != Language::Formula {
            return None;
        }
        let path = related::specification_of(&related::path_of(uri)?, text)?;
        let is_open = |one: &&Open| related::path_of(one.uri.as_str()).as_ref() == Some(&path);
        if let Some(open) = self.documents.values().find(is_open) {
            let text = Text::new(open.document.text.content.clone());
            return Some(Related { uri: open.uri.clone(), text });
        }
        let text = std::fs::read_to_string(&path).ok()?;
        Some(Related { uri: related::uri_of(&path)?, text: Text::new(text) })
    }

    /// Reads a document again, with the specification that it is about.
    fn analyse(&mut self, uri: &str) -> Result<(), ServeError> {
        let Some(open) = self.documents.get(uri) else { return Ok(()) };
        let document = &open.document;
        let related = self.related(document.language, uri, &document.text.content);
        if let Some(open) = self.documents.get_mut(uri) {
            open.document.related = related;
            open.document.analyse();
            open.unchecked = true;
        }
        self.publish_quickly(uri)
    }

    /// Reads all formulas again after a change of a specification.
    fn relate_formulas(&mut self, changed: Language) -> Result<(), ServeError> {
        if changed != Language::Mcrl2 {
            return Ok(());
        }
        let is_formula = |one: &&Open| one.document.language == Language::Formula;
        let formulas = self.documents.values().filter(is_formula);
        let formulas: Vec<String> = formulas.map(|one| one.uri.as_str().to_owned()).collect();
        formulas.iter().try_for_each(|uri| self.analyse(uri))
    }

    fn publish_quickly(&self, uri: &str) -> Result<(), ServeError> {
        let Some(open) = self.documents.get(uri) else { return Ok(()) };
        let shown = open.document.show(&open.document.analysis.diagnostics);
        publish(self.connection, open.uri.clone(), shown)
    }

    fn answer(&self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let outcome = match method.as_str() {
            asked::HoverRequest::METHOD => self.about::<asked::HoverRequest>(params, |asked| {
                let at = asked.text_document_position_params;
                let (open, offset) = self.place(&at.text_document.uri, at.position)?;
                reply(open.document.hover(offset))
            }),
            asked::GotoDefinition::METHOD => self.about::<asked::GotoDefinition>(params, |asked| {
                let at = asked.text_document_position_params;
                let (open, offset) = self.place(&at.text_document.uri, at.position)?;
                reply(open.document.definition(&open.uri, offset).map(GotoDefinitionResponse::Scalar))
            }),
            asked::References::METHOD => self.about::<asked::References>(params, |asked| {
                let at = asked.text_document_position;
                let (open, offset) = self.place(&at.text_document.uri, at.position)?;
                reply(open.document.references(&open.uri, offset, asked.context.include_declaration))
            }),
            asked::Rename::METHOD => self.about::<asked::Rename>(params, |asked| {
                let at = asked.text_document_position;
                let (open, offset) = self.place(&at.text_document.uri, at.position)?;
                reply(open.document.rename(&open.uri, offset, &asked.new_name)?)
            }),
            asked::Completion::METHOD => self.about::<asked::Completion>(params, |asked| {
                let at = asked.text_document_position;
                let (open, offset) = self.place(&at.text_document.uri, at.position)?;
                reply(open.document.completions(offset))
            }),
            asked::DocumentSymbolRequest::METHOD => {
                self.about::<asked::DocumentSymbolRequest>(params, |asked| {
                    let outline = self.open(&asked.text_document.uri)?.document.outline();
                    reply(DocumentSymbolResponse::Nested(outline))
                })
            }
            asked::Formatting::METHOD => self.about::<asked::Formatting>(params, |asked| {
                reply(self.open(&asked.text_document.uri)?.document.format())
            }),
            asked::CodeLensRequest::METHOD => self.about::<asked::CodeLensRequest>(params, |asked| {
                let open = self.open(&asked.text_document.uri)?;
                reply(open.document.lenses(&open.uri))
            }),
            _ => Err((ErrorCode::MethodNotFound, format!("turnpike does not know {method}"))),
        };
        respond(id, outcome)
    }

    /// Reads the parameters of a request and answers it.
    fn about<R: asked::Request>(
        &self,
        params: serde_json::Value,
        answer: impl FnOnce(R::Params) -> Result<serde_json::Value, String>,
    ) -> Result<serde_json::Value, (ErrorCode, String)> {
        let asked = serde_json::from_value::<R::Params>(params)
            .map_err(|error| (ErrorCode::InvalidParams, error.to_string()))?;
        answer(asked).map_err(|error| (ErrorCode::RequestFailed, error))
    }

    fn open(&self, uri: &Uri) -> Result<&Open, String> {
        self.documents.get(uri.as_str()).ok_or_else(|| format!("{} is not open", uri.as_str()))
    }

    fn place(&self, uri: &Uri, position: lsp_types::Position) -> Result<(&Open, usize), String> {
        let open = self.open(uri)?;
        Ok((open, open.document.text.offset(position)))
    }
}

fn reply(value: impl Serialize) -> Result<serde_json::Value, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

fn respond(id: RequestId, outcome: Result<serde_json::Value, (ErrorCode, String)>) -> Response {
    match outcome {
        Ok(value) => Response::new_ok(id, value),
        Err((code, message)) => Response::new_err(id, code as i32, message),
    }
}

/// The parameters of a notification; wrong ones are ignored, because notifications have no answer.
fn parameters<N: told::Notification>(params: serde_json::Value) -> Option<N::Params> {
    serde_json::from_value(params).ok()
}

fn publish(
    connection: &Connection,
    uri: Uri,
    diagnostics: Vec<lsp_types::Diagnostic>,
) -> Result<(), ServeError> {
    let shown = PublishDiagnosticsParams { uri, diagnostics, version: None };
    let method = told::PublishDiagnostics::METHOD.to_owned();
    connection.sender.send(Notification::new(method, shown).into())?;
    Ok(())
}
