//! Who may ask: a browser on this machine that was given the token, and no page of anyone else.
//!
//! The token comes in the address that is opened first. From then on it is a cookie, so that it does
//! not stay in the address. `Host` and `Origin` are checked on every request: a foreign page that makes
//! its name point to this machine sends its own.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What every answer says about what its page may do. Nothing is loaded from elsewhere, nothing is
/// kept, nobody else may show it.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
         connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The token and the names by which the server may be called.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    port: u16,
    token: String,
}

impl Guard {
    /// A guard with a new token.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Guard { port, token: bytes.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Browsers keep one set of cookies for all ports of a machine, so its name has the port.
    fn cookie_name(&self) -> String {
        format!("turnpike-{}", self.port)
    }

    /// Whether this is how the server is called.
    fn is_own_name(&self, name: &str) -> bool {
        ["127.0.0.1", "localhost"].iter().any(|host| name == format!("{host}:{}", self.port))
    }

    /// Whether the request was sent by a page of this server, or by no page at all. An address may name a
    /// host as well as the header, and both must be this one.
    fn is_from_here(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let all = |name: HeaderName, fits: &dyn Fn(&str) -> bool| {
            headers.get_all(name).iter().all(|value| value.to_str().is_ok_and(fits))
        };
        headers.contains_key(header::HOST)
            && all(header::HOST, &|host| self.is_own_name(host))
            && uri.authority().is_none_or(|host| self.is_own_name(host.as_str()))
            && all(header::ORIGIN, &|origin| {
                origin.strip_prefix("http://").is_some_and(|name| self.is_own_name(name))
            })
    }

    fn is_token(&self, text: &str) -> bool {
        // Takes equally long for all texts of the right length.
        let pairs = text.bytes().zip(self.token.bytes());
        text.len() == self.token.len() && pairs.fold(0, |all, (one, other)| all | (one ^ other)) == 0
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|cookies| cookies.to_str().ok());
        cookies
            .flat_map(|cookies| cookies.split(';'))
            .filter_map(|cookie| cookie.trim().split_once('='))
            .any(|(key, value)| key == name && self.is_token(value))
    }

    /// Whether this is the address that was opened first.
    fn is_invitation(&self, method: &Method, uri: &Uri) -> bool {
        let token = uri.query().and_then(|query| query.strip_prefix("token="));
        *method == Method::GET && uri.path() == "/" && token.is_some_and(|token| self.is_token(token))
    }

    /// The answer to the first request: the token moves from the address into a cookie.
    fn welcome(&self) -> Response {
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.token);
        let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())];
        (StatusCode::SEE_OTHER, headers).into_response()
    }
}

/// Lets a request pass, or refuses it; every answer gets the headers.
pub(crate) async fn check(State(guard): State<Guard>, request: Request<Body>, next: Next) -> Response {
    let mut response = if !guard.is_from_here(request.uri(), request.headers()) {
        (StatusCode::FORBIDDEN, "this server answers pages of its own only\n").into_response()
    } else if guard.is_invitation(request.method(), request.uri()) {
        guard.welcome()
    } else if guard.has_cookie(request.headers()) {
        next.run(request).await
    } else {
        let text = "open the address that turnpike printed: it has the token that is missing here\n";
        (StatusCode::UNAUTHORIZED, text).into_response()
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        Guard { port: 4321, token: "0123456789abcdef0123456789abcdef".into() }
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |&(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"))
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn only_own_names_are_answered() {
        let guard = guard();
        let here = Uri::from_static("/api/model");
        for host in ["127.0.0.1:4321", "localhost:4321"] {
            assert!(guard.is_from_here(&here, &headers(&[("host", host)])), "{host}");
        }
        for host in ["127.0.0.1", "127.0.0.1:80", "evil.example:4321", "127.0.0.1:4321.evil.example", ""] {
            assert!(!guard.is_from_here(&here, &headers(&[("host", host)])), "{host}");
        }
        assert!(!guard.is_from_here(&here, &HeaderMap::new()));
        let elsewhere = Uri::from_static("http://evil.example/api/model");
        assert!(!guard.is_from_here(&elsewhere, &headers(&[("host", "127.0.0.1:4321")])));
        for second in [("host", "evil.example"), ("origin", "http://evil.example")] {
            let mut twice = headers(&[("host", "127.0.0.1:4321"), ("origin", "http://127.0.0.1:4321")]);
            assert!(guard.is_from_here(&here, &twice));
            twice.append(HeaderName::from_static(second.0), HeaderValue::from_static(second.1));
            assert!(!guard.is_from_here(&here, &twice), "{second:?}");
        }
        for (origin, own) in [
            ("http://127.0.0.1:4321", true),
            ("http://localhost:4321", true),
            ("https://127.0.0.1:4321", false),
            ("http://evil.example", false),
            ("null", false),
        ] {
            let found =
                guard.is_from_here(&here, &headers(&[("host", "127.0.0.1:4321"), ("origin", origin)]));
            assert_eq!(found, own, "{origin}");
        }
    }

    #[test]
    fn the_cookie_must_be_whole() {
        let guard = guard();
        let token = guard.token().to_owned();
        for (cookie, good) in [
            (format!("turnpike-4321={token}"), true),
            (format!("other=1; turnpike-4321={token}; more=2"), true),
            (format!("turnpike-4322={token}"), false),
            (format!("turnpike-4321={}", &token[1..]), false),
            (format!("turnpike-4321={token}0"), false),
            ("turnpike-4321=".to_owned(), false),
        ] {
            assert_eq!(guard.has_cookie(&headers(&[("cookie", &cookie)])), good, "{cookie}");
        }
    }

    #[test]
    fn tokens_differ() {
        let (one, other) = (Guard::new(1).expect("random"), Guard::new(1).expect("random"));
        assert_eq!(one.token().len(), 32);
        assert_ne!(one.token(), other.token());
    }
}
