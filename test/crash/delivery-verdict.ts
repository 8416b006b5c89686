import { groups } from "./groups.ts";
import { endpoints, type Post } from "./receiver.ts";
import type { DeliveryAttemptFacts, DeliveryFacts, EventFacts } from "./view.ts";

/** An engine was killed, or the storage was out of reach. Engine's milliseconds. */
export interface Disturbance {
  readonly from: number;
  readonly to: number;
}

export interface DeliveryEvidence {
  readonly posts: readonly Post[];
  readonly events: readonly EventFacts[];
  readonly deliveries: readonly DeliveryFacts[];
  readonly deliveryAttempts: readonly DeliveryAttemptFacts[];
  readonly disturbances: readonly Disturbance[];
}

/** For how long before a disturbance an attempt may have been under way or not yet written down: an engine's lease. */
const inFlightMs = 60_000;

/** Events that were committed and did not arrive. */
export function undelivered({ posts, events, deliveries }: DeliveryEvidence): string[] {
  const arrived = new Set(posts.map(({ endpoint, event_id }) => `${event_id} at ${endpoint}`));
  const missing = endpoints.flatMap(({ name, events: types }) =>
    events
      .filter(
        ({ id, type }) => types.some((each) => each === type) && !arrived.has(`${id} at ${name}`),
      )
      .map(({ id, type }) => `${type} ${id} never arrived at ${name}`),
  );
  const stuck = deliveries
    .filter(({ status }) => status !== "succeeded")
    .map(({ id, status, next_attempt_at: at }) => `${id} is ${status}, and due at ${String(at)}`);
  return [...missing, ...stuck];
}

/** What is on record of the attempts, held against what arrived. */
export function misrecorded(evidence: DeliveryEvidence): string[] {
  const { posts, deliveries, deliveryAttempts } = evidence;
  const postsOf = groups(posts, ({ endpoint, event_id }) => `${event_id} at ${endpoint}`);
  const attemptsOf = groups(deliveryAttempts, ({ delivery_id }) => delivery_id);
  const known = new Set(deliveries.map(nameOf));
  const strangers = [...postsOf.keys()]
    .filter((name) => !known.has(name))
    .map((name) => `${name} has no delivery`);
  const found = deliveries.flatMap((delivery) => {
    const tries = attemptsOf.get(delivery.id) ?? [];
    const counted =
      tries.length === delivery.attempts
        ? []
        : [`${delivery.id} counts ${delivery.attempts} attempts`];
    return [
      ...counted,
      ...differences(delivery.id, tries, postsOf.get(nameOf(delivery)) ?? [], evidence),
    ];
  });
  return [...strangers, ...found, ...overtaken(evidence)];
}

const nameOf = ({ event_id, endpoint }: DeliveryFacts): string => `${event_id} at ${endpoint}`;

function differences(
  id: string,
  attempts: readonly DeliveryAttemptFacts[],
  posts: readonly Post[],
  { disturbances }: DeliveryEvidence,
): string[] {
  const left = posts.toSorted((a, b) => a.at - b.at);
  const unheard: string[] = [];
  // What was given up unanswered may arrive at any time after it began, or never.
  for (const { number, started_at, duration_ms, status_code } of attempts.toSorted(answeredFirst)) {
    const ended_at = status_code === null ? Infinity : started_at + duration_ms;
    const place = left.findIndex(({ at }) => at >= started_at && at <= ended_at);
    if (place !== -1) left.splice(place, 1);
    else if (status_code !== null) {
      unheard.push(`${id} was answered ${status_code} at try ${number}, which never arrived`);
    }
  }
  const unwritten = left
    .filter(({ at }) => !disturbances.some(({ from, to }) => to >= at && from <= at + inFlightMs))
    .map(({ at }) => `${id} arrived at ${at}, of which there is no record`);
  return [...unheard, ...unwritten];
}

function answeredFirst(a: DeliveryAttemptFacts, b: DeliveryAttemptFacts): number {
  return Number(a.status_code === null) - Number(b.status_code === null) || a.number - b.number;
}

/** Where order is kept, each event comes for the first time after those that were committed before it. */
function overtaken({ posts, events }: DeliveryEvidence): string[] {
  const places = new Map(events.map(({ id, position }) => [id, position]));
  return endpoints
    .filter(({ ordering }) => ordering === "fifo")
    .flatMap(({ name }) => {
      const firsts = [
        ...groups(posts, ({ endpoint, event_id }) => `${endpoint} ${event_id}`).values(),
      ].flatMap(([first]) => (first?.endpoint === name ? [first.event_id] : []));
      return firsts
        .filter((id, i) => i > 0 && (places.get(id) ?? 0) < (places.get(firsts[i - 1] ?? "") ?? 0))
        .map((id) => `${id} came to ${name} after a later event`);
    });
}
