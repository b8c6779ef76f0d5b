//! Graphs whose edges carry promises, and the cycles on which every promise is kept.

/// An edge: where it leads, and what it puts off, as bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub to: usize,
    pub put_off: u64,
}

/// The component of each node, and for each component whether it has a cycle on which no promise is put off for ever.
pub(crate) fn fair_components(edges: &[Vec<Edge>]) -> (Vec<usize>, Vec<bool>) {
    let component = components(edges);
    let count = component.iter().max().map_or(0, |last| last + 1);
    let mut always_put_off = vec![u64::MAX; count];
    let mut has_edge = vec![false; count];
    for (from, own) in edges.iter().enumerate() {
        for edge in own.iter().filter(|edge| component[edge.to] == component[from]) {
            always_put_off[component[from]] &= edge.put_off;
            has_edge[component[from]] = true;
        }
    }
    let fair = (0..count).map(|c| has_edge[c] && always_put_off[c] == 0).collect();
    (component, fair)
}

/// Nodes from which a fair cycle can be reached.
pub(crate) fn live(edges: &[Vec<Edge>]) -> Vec<bool> {
    let (component, fair) = fair_components(edges);
    let mut live: Vec<bool> = component.iter().map(|c| fair[*c]).collect();
    // Small graphs: look again until nothing changes.
    loop {
        let mut changed = false;
        for (node, own) in edges.iter().enumerate() {
            if !live[node] && own.iter().any(|edge| live[edge.to]) {
                live[node] = true;
                changed = true;
            }
        }
        if !changed {
            return live;
        }
    }
}

/// Edges, each by its node and its place there.
type Walk = Vec<(usize, usize)>;

/// A path from one of the first nodes to a fair cycle, and the cycle.
pub(crate) fn fair_run(edges: &[Vec<Edge>], roots: usize) -> Option<(Walk, Walk)> {
    let (component, fair) = fair_components(edges);
    let everywhere = |_: usize| true;
    let (stem, first) = match (0..roots).find(|&root| fair[component[root]]) {
        Some(root) => (Vec::new(), root),
        None => shortest(edges, 0..roots, &everywhere, &|edge| fair[component[edge.to]])?,
    };
    let inside = |node: usize| component[node] == component[first];
    let own = (0..edges.len()).filter(|&node| inside(node)).flat_map(|node| &edges[node]);
    let put_off = own.filter(|edge| inside(edge.to)).fold(0, |all, edge| all | edge.put_off);
    let (mut cycle, mut at) = (Vec::new(), first);
    for promise in (0..64).filter(|bit| put_off >> bit & 1 == 1) {
        let (walk, end) = shortest(edges, [at], &inside, &|edge| edge.put_off >> promise & 1 == 0)?;
        cycle.extend(walk);
        at = end;
    }
    if at != first || cycle.is_empty() {
        cycle.extend(shortest(edges, [at], &inside, &|edge| edge.to == first)?.0);
    }
    Some((stem, cycle))
}

/// A shortest walk inside of some nodes whose last edge is a goal, and where it ends.
fn shortest(
    edges: &[Vec<Edge>],
    starts: impl IntoIterator<Item = usize>,
    inside: &dyn Fn(usize) -> bool,
    goal: &dyn Fn(&Edge) -> bool,
) -> Option<(Walk, usize)> {
    let mut queue: Vec<(usize, Option<usize>, usize)> = starts.into_iter().map(|node| (node, None, 0)).collect();
    let mut seen: Vec<bool> = vec![false; edges.len()];
    queue.iter().for_each(|&(node, ..)| seen[node] = true);
    let mut at = 0;
    while at < queue.len() {
        let node = queue[at].0;
        for (place, edge) in edges[node].iter().enumerate().filter(|(_, edge)| inside(edge.to)) {
            if goal(edge) {
                let mut walk = vec![(node, place)];
                let mut back = at;
                while let (_, Some(before), place) = queue[back] {
                    walk.push((queue[before].0, place));
                    back = before;
                }
                walk.reverse();
                return Some((walk, edge.to));
            }
            if !seen[edge.to] {
                seen[edge.to] = true;
                queue.push((edge.to, Some(at), place));
            }
        }
        at += 1;
    }
    None
}

/// Strongly connected components, by Tarjan's algorithm with a stack of its own.
fn components(edges: &[Vec<Edge>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let count = edges.len();
    let (mut index, mut low, mut component) = (vec![NONE; count], vec![0; count], vec![NONE; count]);
    let (mut stack, mut next_index, mut next_component) = (Vec::new(), 0, 0);
    for root in 0..count {
        if index[root] != NONE {
            continue;
        }
        let mut work = vec![(root, 0)];
        while let Some((node, place)) = work.pop() {
            if place == 0 {
                (index[node], low[node]) = (next_index, next_index);
                next_index += 1;
                stack.push(node);
            } else {
                let child = edges[node][place - 1].to;
                low[node] = low[node].min(low[child]);
            }
            let mut deeper = None;
            for (at, edge) in edges[node].iter().enumerate().skip(place) {
                if index[edge.to] == NONE {
                    deeper = Some((at, edge.to));
                    break;
                }
                if component[edge.to] == NONE {
                    low[node] = low[node].min(index[edge.to]);
                }
            }
            match deeper {
                Some((at, child)) => {
                    work.push((node, at + 1));
                    work.push((child, 0));
                }
                None if low[node] == index[node] => {
                    while let Some(member) = stack.pop() {
                        component[member] = next_component;
                        if member == node {
                            break;
                        }
                    }
                    next_component += 1;
                }
                None => {}
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(to: usize, put_off: u64) -> Edge {
        Edge { to, put_off }
    }

    #[test]
    fn a_cycle_is_fair_if_each_promise_is_kept_somewhere_on_it() {
        // 0 -> 1 -> 0 puts off one promise on each edge, but no promise on both.
        let kept = [vec![edge(1, 0b01)], vec![edge(0, 0b10)], vec![edge(0, 0)]];
        assert_eq!(live(&kept), [true, true, true]);
        let broken = [vec![edge(1, 0b01)], vec![edge(0, 0b11)], vec![edge(0, 0)]];
        assert_eq!(live(&broken), [false, false, false]);
        // No cycle at all.
        assert_eq!(live(&[vec![edge(1, 0)], vec![]]), [false, false]);
        // Two nested cycles make one component.
        let nested = [vec![edge(1, 1), edge(2, 1)], vec![edge(0, 1)], vec![edge(0, 0)]];
        assert_eq!(live(&nested), [true, true, true]);
    }
}
