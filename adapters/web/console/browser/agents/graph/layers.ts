/**
 * The edges between the steps of a playbook, and the layer of each step. Edges lead down from layer
 * to layer. Those that close a loop, the back edges, lead up.
 */
import type { PlaybookStep } from "../../../../../../src/index.ts";

/** An edge between two steps, which are indexes of the list. */
export interface StepEdge {
  readonly from: number;
  readonly to: number;
  readonly kind: "next" | "case" | "fail" | "error";
  /** The condition of a case. */
  readonly label: string | undefined;
}

/** Returns all edges, in the order of the steps. */
export function edgesOf(steps: readonly PlaybookStep[]): readonly StepEdge[] {
  return steps.flatMap((step, from) => {
    const edges: StepEdge[] = [];
    const add = (id: string | undefined, kind: StepEdge["kind"], label?: string): void => {
      const to = steps.findIndex((each) => each.id === id);
      if (id !== undefined && to !== -1) edges.push({ from, to, kind, label });
    };
    if (step.type === "branch") for (const each of step.cases) add(each.next, "case", each.when);
    if (step.type === "ask") add(step.on_fail, "fail");
    if (step.type === "run") add(step.on_error, "error");
    if (step.type !== "handoff" && step.type !== "resolve") {
      add(step.next ?? steps[from + 1]?.id, "next");
    }
    return edges;
  });
}

/** The layers of a graph. */
export interface Layers {
  /** The layer of each step by its index. It is below all steps that lead down to the step. */
  readonly layerOf: ReadonlyMap<number, number>;
  readonly backEdges: ReadonlySet<StepEdge>;
}

/** Decides which edges lead down, and puts each step into a layer. */
export function layersOf(count: number, edges: readonly StepEdge[]): Layers {
  const { indexes, backEdges } = orderOf(count, edges);
  const layerOf = new Map<number, number>();
  for (const index of indexes) {
    const layer = layerOf.get(index) ?? Math.max(-1, ...layerOf.values()) + 1;
    layerOf.set(index, layer);
    for (const edge of edges) {
      if (edge.from !== index || backEdges.has(edge)) continue;
      layerOf.set(edge.to, Math.max(layerOf.get(edge.to) ?? 0, layer + 1));
    }
  }
  return { layerOf, backEdges };
}

interface Order {
  /** The indexes of the steps. Each step comes before the steps that it leads down to. */
  readonly indexes: readonly number[];
  readonly backEdges: ReadonlySet<StepEdge>;
}

/** Sorts the steps topologically. Steps that the first step does not reach come last. */
function orderOf(count: number, edges: readonly StepEdge[]): Order {
  const backEdges = new Set<StepEdge>();
  const indexes: number[] = [];
  const done = new Set<number>();
  for (let start = 0; start < count; start += 1) {
    const earlier = new Set(done);
    const path = new Set<number>();
    const found: number[] = [];
    const follow = (index: number): void => {
      if (done.has(index)) return;
      path.add(index);
      for (const edge of edges.filter(({ from }) => from === index)) {
        // An edge down to a step of an earlier start would move that step below this one.
        if (path.has(edge.to) || earlier.has(edge.to)) backEdges.add(edge);
        else follow(edge.to);
      }
      path.delete(index);
      done.add(index);
      found.push(index);
    };
    follow(start);
    indexes.push(...found.toReversed());
  }
  return { indexes, backEdges };
}
