//! Which clocks run in a state.

use super::{Fault, Machine, Outcome, rate_frame_size};

impl Machine<'_> {
    /// Computes for each clock whether it runs in the current locations.
    pub fn find_running(&mut self, runs: &mut Vec<bool>) -> Outcome<()> {
        let network = self.network;
        runs.clear();
        runs.resize(network.clocks.len(), true);
        let mut rated = vec![false; runs.len()];
        for (index, process) in network.processes.iter().enumerate() {
            let location = &process.locations[self.locations[index] as usize];
            for rate in &location.rates {
                self.enter_condition(rate_frame_size(network, rate));
                if let Some(when) = &rate.when
                    && !self.holds(when)?
                {
                    continue;
                }
                let clock = self.clock(&rate.clock, &rate.place)?.0 as usize;
                let value = self.value(&rate.value)?;
                let name = &network.clocks[clock];
                let running = match value {
                    0 => false,
                    1 => true,
                    _ => {
                        let message =
                            format!("clock {name} has rate {value}, but only 0 and 1 are supported");
                        return Err(Fault::new(message, &rate.place));
                    }
                };
                if rated[clock] && runs[clock] != running {
                    return Err(Fault::new(format!("clock {name} has two rates at once"), &rate.place));
                }
                (rated[clock], runs[clock]) = (true, running);
            }
        }
        Ok(())
    }
}
