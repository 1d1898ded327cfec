//! An incident as lines of text.

use turnpike_model::{Obstacle, Offer, StuckComponent};

use super::{Incident, IncidentKind, Waiting, legend, lines};

/// How many of the last lines of the program's output are shown.
const OUTPUT_LINES: usize = 12;

impl Waiting {
    /// `main.0 waits to lock mutex 2 at bank.c:40, held by main.1 since bank.c:31`.
    pub fn sentence(&self) -> String {
        let mut text = format!("{} waits {}", self.thread, self.what);
        if let Some(place) = &self.place {
            text.push_str(&format!(" at {place}"));
        }
        if let Some(holder) = self.holder.as_ref().filter(|holder| !self.what.ends_with(holder.as_str())) {
            if *holder == self.thread {
                text.push_str(", which it holds itself");
            } else {
                text.push_str(&format!(", held by {holder}"));
            }
            if let Some(since) = &self.since {
                text.push_str(&format!(" since {since}"));
            }
        }
        if let Some(note) = &self.note {
            text.push_str(&format!("; {note}"));
        }
        text
    }
}

impl Incident {
    /// The threads that wait, in the form in which other systems explain their deadlocks. Empty for
    /// executions that ended otherwise.
    pub fn stuck_components(&self) -> Vec<StuckComponent> {
        let component = |waiting: &Waiting| StuckComponent {
            component: waiting.thread.clone(),
            position: waiting.place.clone().unwrap_or_default(),
            offers: vec![Offer {
                action: waiting.operation.clone(),
                obstacles: vec![Obstacle::Held {
                    needs: waiting.what.clone(),
                    by: waiting.holder.clone(),
                    since: waiting.since.clone(),
                }],
            }],
            stops_time: None,
        };
        self.waiting.iter().map(component).collect()
    }

    /// `assertion: balance >= 0 (main.1, bank.c:31)`.
    pub fn headline(&self) -> String {
        let word = self.kind.keyword();
        let mut text = match self.message.starts_with(word) {
            true => self.message.clone(),
            false => format!("{word}: {}", self.message),
        };
        let known =
            [&self.thread, &self.place].into_iter().flatten().filter(|part| !text.contains(part.as_str()));
        let known: Vec<&str> = known.map(String::as_str).collect();
        if !known.is_empty() {
            text.push_str(&format!(" ({})", known.join(", ")));
        }
        text
    }

    /// Which thread waits for which, and the cycle if there is one.
    pub fn explanation(&self) -> Vec<String> {
        let mut told: Vec<String> = self.waiting.iter().map(Waiting::sentence).collect();
        if let Some(circle) = self.circle().filter(|circle| circle.len() > 2) {
            told.push(format!("each waits for the next: {}", circle.join(" -> ")));
        }
        told.extend(self.old_values.iter().cloned());
        told
    }

    /// Threads that wait for each other in a cycle; the first is also the last.
    fn circle(&self) -> Option<Vec<&str>> {
        let next = |thread: &str| {
            let waiting = self.waiting.iter().find(|waiting| waiting.thread == thread)?;
            waiting.holder.as_deref()
        };
        for start in &self.waiting {
            let mut way = vec![start.thread.as_str()];
            while let Some(holder) = next(way[way.len() - 1]) {
                way.push(holder);
                if holder == start.thread {
                    return Some(way);
                }
                if way.len() > self.waiting.len() + 1 {
                    break;
                }
            }
        }
        None
    }

    /// `12 steps of 3 threads, 4 context switches (2 preemptions)`.
    pub fn size(&self) -> String {
        if self.rows.is_empty() {
            return "no step is needed".to_owned();
        }
        let mut threads: Vec<&str> = self.rows.iter().map(|row| row.thread.as_str()).collect();
        threads.sort_unstable();
        threads.dedup();
        let counted = |number: usize, noun: &str, plural: &str| {
            format!("{number} {noun}{}", if number == 1 { "" } else { plural })
        };
        let preemptions = match self.preemptions() {
            0 => String::new(),
            number => format!(" ({})", counted(number, "preemption", "s")),
        };
        format!(
            "{} of {}, {}{preemptions}",
            counted(self.rows.len(), "step", "s"),
            counted(threads.len(), "thread", "s"),
            counted(self.context_switches(), "context switch", "es"),
        )
    }

    /// The schedule in columns, ending with the failure or with what threads wait for. With `all`,
    /// turns of loops are not left out.
    pub fn schedule(&self, width: usize, all: bool) -> Vec<String> {
        let mut ends: Vec<(String, String)> = Vec::new();
        if let (IncidentKind::Failed(_), Some(thread)) = (self.kind, &self.thread) {
            let place = self.place.as_ref().map_or(String::new(), |place| format!("  {place}"));
            ends.push((thread.clone(), format!("*** {}{place}", self.kind.keyword())));
        }
        if matches!(self.kind, IncidentKind::Deadlock | IncidentKind::Livelock) {
            ends.extend(self.waiting.iter().map(|one| (one.thread.clone(), format!("waits {}", one.what))));
        }
        let mut out = lines(&self.rows, &ends, width, all);
        out.extend(legend(&self.rows).map(|text| format!("     {text}")));
        out
    }

    /// The last lines that the program printed.
    pub fn output_tail(&self) -> Vec<String> {
        let printed: Vec<&str> = self.output.lines().collect();
        let from = printed.len().saturating_sub(OUTPUT_LINES);
        let mut out = Vec::new();
        if from > 0 {
            out.push(format!("... {from} lines before ..."));
        }
        out.extend(printed[from..].iter().map(|line| (*line).to_owned()));
        out
    }

    /// Where each thread is, from the user's code on; with `all` including libraries and turnpike.
    pub fn stack_lines(&self, all: bool) -> Vec<String> {
        super::stacks::lines(&self.stacks, self.thread.as_deref(), all)
    }

    /// Everything: what happened, which thread waits for which, the schedule (with `all` all of its
    /// steps), the stacks (with `all` all of their frames), and what the program printed.
    pub fn report(&self, width: usize, all: bool) -> Vec<String> {
        let mut out = vec![self.headline()];
        if !matches!(self.kind, IncidentKind::Open) {
            out.extend(self.explanation().into_iter().map(|line| format!("  {line}")));
        }
        out.push(String::new());
        out.push(format!("schedule: {}", self.size()));
        out.push(String::new());
        out.extend(self.schedule(width, all));
        if !self.made.is_empty() {
            out.push(String::new());
            out.extend(self.made.iter().map(|made| format!("     {}", made.sentence())));
        }
        let wrong =
            !matches!(self.kind, IncidentKind::Finished | IncidentKind::StepLimit | IncidentKind::Open);
        let stacks = if wrong { self.stack_lines(all) } else { Vec::new() };
        if !stacks.is_empty() {
            out.push(String::new());
            out.extend(stacks);
        }
        let told: Vec<&String> = self.findings.iter().filter(|finding| **finding != self.message).collect();
        if !told.is_empty() {
            out.push(String::new());
            out.push("also:".to_owned());
            out.extend(told.into_iter().map(|finding| format!("  {finding}")));
        }
        let printed = self.output_tail();
        if !printed.is_empty() {
            out.push(String::new());
            out.push("the program printed:".to_owned());
            out.extend(printed.into_iter().map(|line| format!("  {line}")));
        }
        out
    }
}
