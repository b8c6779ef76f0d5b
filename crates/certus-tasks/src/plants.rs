//! The plants of Gymnasium's classic control tasks, as system files.
//!
//! Each file is the task in the version that it is named after: its step in discrete time with the integration and the
//! clipping of the environment, its reset as `init`, what ends an episode as `terminal`, its reward, and what the policy
//! sees in the environment's order. The time limit is no part of a plant; it is a bound in a property. Gymnasium computes
//! some of this in single precision, and a model over the reals does not round. `certus.gym.compare` steps both.
//!
//! Sources: A. Barto, R. Sutton and C. Anderson, *Neuronlike adaptive elements that can solve difficult learning control
//! problems* (1983), for the cart-pole; A. Moore, *Efficient memory-based learning for robot control* (1990), for the
//! mountain car; R. Sutton, *Generalization in reinforcement learning* (1996), for the acrobot.

use certus_lang::diagnostics::nearest;

use crate::failure::Failure;

/// A plant.
#[derive(Debug)]
pub struct Plant {
    /// What Gymnasium calls it.
    pub environment: &'static str,
    /// What its file calls it.
    system: &'static str,
    /// What a policy sees, in the environment's order.
    pub observation: &'static [&'static str],
    /// How many numbers a policy answers with: the scores of its actions, or the action.
    pub answers: usize,
    text: &'static str,
}

/// How each file begins a comment that a placeholder stands below, up to the next empty line. The comment's second line is
/// what is to stand there with a network.
const PLACEHOLDER: &str = "// A placeholder:";
/// How the files call that network.
const POLICY: &str = "\"policy.onnx\"";

static PLANTS: &[Plant] = &[
    Plant {
        environment: "CartPole-v1",
        system: "cartpole",
        observation: &["p", "v", "theta", "omega"],
        answers: 2,
        text: include_str!("plants/cartpole.certus"),
    },
    Plant {
        environment: "MountainCar-v0",
        system: "mountain_car",
        observation: &["p", "v"],
        answers: 3,
        text: include_str!("plants/mountain_car.certus"),
    },
    Plant {
        environment: "MountainCarContinuous-v0",
        system: "mountain_car_continuous",
        observation: &["p", "v"],
        answers: 1,
        text: include_str!("plants/mountain_car_continuous.certus"),
    },
    Plant {
        environment: "Pendulum-v1",
        system: "pendulum",
        observation: &["cos(theta)", "sin(theta)", "omega"],
        answers: 1,
        text: include_str!("plants/pendulum.certus"),
    },
    Plant {
        environment: "Acrobot-v1",
        system: "acrobot",
        observation: &["cos(theta1)", "sin(theta1)", "cos(theta2)", "sin(theta2)", "omega1", "omega2"],
        answers: 3,
        text: include_str!("plants/acrobot.certus"),
    },
];

impl Plant {
    /// The plant of an environment.
    pub fn named(environment: &str) -> Result<&'static Plant, Failure> {
        let names = || PLANTS.iter().map(|plant| plant.environment);
        PLANTS.iter().find(|plant| plant.environment == environment).ok_or_else(|| {
            let hint = match nearest(environment, names()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
            };
            Failure::message(format!("the plant of '{environment}' is not known: {hint}"))
        })
    }

    /// That a network takes what this environment shows, and answers what it takes.
    pub fn fits(&self, inputs: usize, outputs: usize) -> Result<(), Failure> {
        let Plant { environment, observation, answers, .. } = self;
        let (count, list) = (observation.len(), observation.join(", "));
        if inputs != count {
            return Err(Failure::message(format!(
                "the network takes {inputs} numbers, and {environment} shows {count} ({list}): they do not belong together"
            )));
        }
        if outputs != *answers {
            return Err(Failure::message(format!(
                "the network gives {outputs} numbers, and {environment} needs {answers}: they do not belong together"
            )));
        }
        Ok(())
    }

    /// The system file: with this network, or with a placeholder instead of one.
    pub fn file(&self, name: Option<&str>, network: Option<&str>) -> String {
        let mut text = self.text.to_owned();
        if let Some(name) = name {
            text = text.replacen(&format!("system {}\n", self.system), &format!("system {name}\n"), 1);
        }
        let Some(network) = network else { return text };
        let Some((before, rest)) = text.split_once(PLACEHOLDER) else { return text };
        let (block, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
        let applied = block.lines().nth(1).unwrap_or_default().trim_start_matches("// ");
        let quoted = format!("\"{}\"", network.replace('\\', "\\\\").replace('"', "\\\""));
        let applied = applied.replacen(POLICY, &quoted, 1);
        format!(
            "{before}/// What the network does with what {} shows, in its order.\n{applied}\n\n{after}",
            self.environment
        )
    }
}

#[cfg(test)]
mod tests {
    use certus_lang::diagnostics::Source;

    use super::*;

    #[test]
    fn files_are_canonical_and_name_what_is_observed() {
        for plant in PLANTS {
            let file = plant.file(None, None);
            let formatted = certus_lang::format(&Source::new(plant.environment, file.clone())).unwrap();
            assert_eq!(formatted, file, "{}", plant.environment);
            assert!(file.contains(&format!("({})", plant.environment)), "{}", plant.environment);
            let applied = format!("net({POLICY}, {})", plant.observation.join(", "));
            assert_eq!(file.matches(&applied).count(), 1, "{}: {applied}", plant.environment);
        }
    }

    #[test]
    fn a_network_stands_in_the_place_of_the_placeholder() {
        for plant in PLANTS {
            let file = plant.file(Some("other"), Some("a \"b\".onnx"));
            assert!(file.contains("\nsystem other\n"), "{file}");
            assert!(!file.contains("placeholder") && !file.contains("policy.onnx"), "{file}");
            let applied = format!("net(\"a \\\"b\\\".onnx\", {})", plant.observation.join(", "));
            assert_eq!(file.matches(&applied).count(), 1, "{file}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let plant = Plant::named("CartPole-v1").unwrap();
        assert!(plant.fits(4, 2).is_ok());
        assert!(plant.fits(2, 2).is_err() && plant.fits(4, 1).is_err());
        assert!(Plant::named("CartPole-v0").unwrap_err().to_string().contains("did you mean 'CartPole-v1'?"));
        assert!(Plant::named("Ant-v5").unwrap_err().to_string().contains("Acrobot-v1"));
    }
}
