//! Short accepting lassos as witnesses.
//!
//! After Clarke, Grumberg, McMillan and Zhao, "Efficient Generation of Counterexamples and Witnesses in Symbolic Model Checking",
//! DAC 1995, which visits one fairness set after the other by shortest paths. Departure: small components get a shortest lasso.
//!
//! A search found a strongly connected set of states whose inner steps are in all acceptance sets. Any lasso into it would
//! do; users read it, so it should be short. The prefix is a shortest path (breadth first) to the set. For the cycle, let
//! an expanded state be a state with the marks collected since the start: a shortest path from (s, nothing) back to
//! (s, everything) is a shortest accepting cycle through s. While the set is small, every s is tried and the shortest lasso
//! over the set wins (shortest in total); in larger sets only the entry is tried, and where even one such search would be
//! too much, the cycle is pieced together: shortest paths to steps with missing marks, one after the other, and back.

use crate::automaton::{Marks, all_marks};
use crate::graph::{Graph, Lasso, Outcome};
use crate::intern::Interner;
use std::collections::{HashMap, VecDeque};

/// How many expanded states a search for a cycle may make, and all of them together.
const ONE_SEARCH: usize = 1_000_000;
const ALL_SEARCHES: usize = 4_000_000;
/// In sets with more members only the nearest ones are tried as starts.
const MANY: usize = 10_000;

const NONE: u32 = u32::MAX;

/// The steps inside the set, by place in it: one vector, with an index per member.
struct Inner {
    steps: Vec<(u32, Marks)>,
    ends: Vec<usize>,
}

impl Inner {
    fn of(&self, place: u32) -> &[(u32, Marks)] {
        let place = place as usize;
        &self.steps[if place == 0 { 0 } else { self.ends[place - 1] }..self.ends[place]]
    }
}

/// An accepting lasso through the members, which are strongly connected and have all marks among them.
pub(crate) fn lasso<G: Graph>(graph: &mut G, states: &Interner<G::State>, members: &[u32]) -> Outcome<G::State> {
    let full = all_marks(graph.sets());
    let mut place = vec![NONE; states.len()];
    for (i, member) in members.iter().enumerate() {
        place[*member as usize] = i as u32;
    }
    let mut inner = Inner { steps: Vec::new(), ends: Vec::with_capacity(members.len()) };
    let mut steps = Vec::new();
    for member in members {
        steps.clear();
        graph.successors(states.get(*member), &mut steps);
        for (target, marks) in &steps {
            if let Some(target) = states.find(target)
                && place[target as usize] != NONE
            {
                inner.steps.push((place[target as usize], *marks));
            }
        }
        inner.ends.push(inner.steps.len());
    }
    let ways = Ways::new(graph, states, &place, members.len());
    let ahead = |start: u32| ways.distance[members[start as usize] as usize] as usize;
    let mut starts: Vec<u32> = (0..members.len() as u32).filter(|i| ahead(*i) != NONE as usize).collect();
    starts.sort_by_key(|i| ahead(*i));
    let (mut best, mut effort): (Option<(usize, u32, Vec<u32>)>, usize) = (None, 0);
    for &start in &starts {
        let most = best.as_ref().map_or(usize::MAX, |(length, ..)| length.saturating_sub(ahead(start)));
        if most <= 1 || effort > ALL_SEARCHES {
            break;
        }
        if let Some(cycle) = shortest_cycle(&inner, start, full, most, &mut effort) {
            best = Some((ahead(start) + cycle.len(), start, cycle));
        }
    }
    let found = match best {
        Some((_, start, cycle)) => Some((start, cycle)),
        None => starts.first().and_then(|start| Some((*start, pieced_cycle(&inner, *start, full)?))),
    };
    // The members are reachable and accepting by what the caller found; there is always a lasso.
    let Some((start, cycle)) = found else { return Outcome::Stopped };
    debug_assert!(cycle.first() == Some(&start), "the cycle of a lasso begins where its prefix ends");
    let mut prefix = Vec::new();
    let mut at = members[start as usize];
    while ways.before[at as usize] != NONE {
        at = ways.before[at as usize];
        prefix.push(states.get(at).clone());
    }
    prefix.reverse();
    let cycle = cycle.into_iter().map(|i| states.get(members[i as usize]).clone()).collect();
    Outcome::Accepting(Lasso { prefix, cycle })
}

/// Shortest ways from the initial states, over the states that are known.
struct Ways {
    distance: Vec<u32>,
    before: Vec<u32>,
}

impl Ways {
    /// Breadth first until all members were met; the first of them is enough for large sets.
    fn new<G: Graph>(graph: &mut G, states: &Interner<G::State>, place: &[u32], members: usize) -> Ways {
        let mut ways = Ways { distance: vec![NONE; states.len()], before: vec![NONE; states.len()] };
        let (mut queue, mut missing, mut initial) = (VecDeque::new(), members, Vec::new());
        graph.initial(&mut initial);
        for start in initial.iter().filter_map(|state| states.find(state)) {
            if ways.distance[start as usize] == NONE {
                ways.distance[start as usize] = 0;
                missing -= usize::from(place[start as usize] != NONE);
                queue.push_back(start);
            }
        }
        let mut steps = Vec::new();
        while let Some(state) = queue.pop_front() {
            if missing == 0 || (members > MANY && missing < members) {
                break;
            }
            steps.clear();
            graph.successors(states.get(state), &mut steps);
            for target in steps.iter().filter_map(|(target, _)| states.find(target)) {
                if ways.distance[target as usize] == NONE {
                    ways.distance[target as usize] = ways.distance[state as usize] + 1;
                    ways.before[target as usize] = state;
                    missing -= usize::from(place[target as usize] != NONE);
                    queue.push_back(target);
                }
            }
        }
        ways
    }
}

/// The shortest cycle through `start` with all marks, if it is shorter than `most` and the search stays small.
fn shortest_cycle(inner: &Inner, start: u32, full: Marks, most: usize, effort: &mut usize) -> Option<Vec<u32>> {
    let mut seen: HashMap<(u32, Marks), usize> = HashMap::new();
    // Each expanded state with its predecessor and its distance.
    let mut queue: Vec<(u32, Marks, usize, usize)> = vec![(start, 0, usize::MAX, 0)];
    let mut next = 0;
    while next < queue.len() && queue.len() < ONE_SEARCH {
        let (state, marks, _, distance) = queue[next];
        if distance + 1 >= most {
            break;
        }
        for (target, new) in inner.of(state) {
            *effort += 1;
            let marks = marks | new;
            if *target == start && marks == full {
                let (mut cycle, mut at) = (Vec::new(), next);
                while at != usize::MAX {
                    cycle.push(queue[at].0);
                    at = queue[at].2;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = seen.entry((*target, marks)) {
                entry.insert(distance + 1);
                queue.push((*target, marks, next, distance + 1));
            }
        }
        next += 1;
    }
    None
}

/// A cycle through `start` with all marks: to a step with missing marks, to the next, and back.
fn pieced_cycle(inner: &Inner, start: u32, full: Marks) -> Option<Vec<u32>> {
    let (mut cycle, mut at, mut marks) = (Vec::new(), start, 0);
    while marks != full {
        let (path, target, new) = walk(inner, at, |_, new| new & !marks != 0)?;
        cycle.extend(path);
        (at, marks) = (target, marks | new);
    }
    if at != start || cycle.is_empty() {
        let (path, _, _) = walk(inner, at, |target, _| target == start)?;
        cycle.extend(path);
    }
    Some(cycle)
}

/// A shortest path whose last step is wanted: the states before each step, the target, the marks on the way.
fn walk(inner: &Inner, from: u32, wanted: impl Fn(u32, Marks) -> bool) -> Option<(Vec<u32>, u32, Marks)> {
    let mut before: Vec<Option<(u32, Marks)>> = vec![None; inner.ends.len()];
    let mut queue = VecDeque::from([from]);
    while let Some(state) = queue.pop_front() {
        for (target, new) in inner.of(state) {
            if wanted(*target, *new) {
                let (mut path, mut marks, mut at) = (vec![state], *new, state);
                while at != from {
                    let Some((previous, step)) = before[at as usize] else { break };
                    marks |= step;
                    path.push(previous);
                    at = previous;
                }
                path.reverse();
                return Some((path, *target, marks));
            }
            if before[*target as usize].is_none() && *target != from {
                before[*target as usize] = Some((state, *new));
                queue.push_back(*target);
            }
        }
    }
    None
}
