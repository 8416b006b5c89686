import { endpoints } from "../outside/protocol.ts";
import type { WebhookRequest } from "../outside/receiver.ts";
import type {
  StoredDelivery,
  StoredDeliveryAttempt,
  StoredEvent,
} from "../storages/database-view.ts";

/** When an engine was killed, or the storage could not be reached, by the engines' clock. */
export interface Disturbance {
  readonly from: number;
  readonly to: number;
}

export interface DeliveryEvidence {
  readonly requests: readonly WebhookRequest[];
  readonly events: readonly StoredEvent[];
  readonly deliveries: readonly StoredDelivery[];
  readonly deliveryAttempts: readonly StoredDeliveryAttempt[];
  readonly disturbances: readonly Disturbance[];
}

/** How long before a disturbance an attempt may have started that was never recorded: a lease. */
const inFlightMs = 60_000;

/** Committed events that did not arrive, and deliveries that did not succeed. */
export function undelivered({ requests, events, deliveries }: DeliveryEvidence): string[] {
  const arrived = new Set(requests.map(({ endpoint, event_id }) => `${event_id} at ${endpoint}`));
  const missing = endpoints.flatMap(({ name, events: types }) =>
    events
      .filter(
        ({ id, type }) => types.some((each) => each === type) && !arrived.has(`${id} at ${name}`),
      )
      .map(({ id, type }) => `${type} ${id} never arrived at ${name}`),
  );
  const stuck = deliveries
    .filter(({ status }) => status !== "succeeded")
    .map(({ id, status, next_attempt_at: at }) => `${id} is ${status} and due at ${String(at)}`);
  return [...missing, ...stuck];
}

/** Differences between the recorded attempts and the requests that arrived. */
export function misrecorded(evidence: DeliveryEvidence): string[] {
  const { requests, deliveries, deliveryAttempts } = evidence;
  const requestsOf = Map.groupBy(
    requests,
    ({ endpoint, event_id }) => `${event_id} at ${endpoint}`,
  );
  const attemptsOf = Map.groupBy(deliveryAttempts, ({ delivery_id }) => delivery_id);
  const known = new Set(deliveries.map(nameOf));
  const unknown = [...requestsOf.keys()]
    .filter((name) => !known.has(name))
    .map((name) => `${name} has no delivery`);
  const found = deliveries.flatMap((delivery) => {
    const attempts = attemptsOf.get(delivery.id) ?? [];
    const counted =
      attempts.length === delivery.attempts
        ? []
        : [`${delivery.id} counts ${delivery.attempts} attempts, but has ${attempts.length}`];
    return [
      ...counted,
      ...differences(delivery.id, attempts, requestsOf.get(nameOf(delivery)) ?? [], evidence),
    ];
  });
  return [...unknown, ...found, ...overtaken(evidence)];
}

const nameOf = ({ event_id, endpoint }: StoredDelivery): string => `${event_id} at ${endpoint}`;

function differences(
  id: string,
  attempts: readonly StoredDeliveryAttempt[],
  requests: readonly WebhookRequest[],
  { disturbances }: DeliveryEvidence,
): string[] {
  const left = requests.toSorted((a, b) => a.at - b.at);
  const missing: string[] = [];
  // An attempt without an answer may have arrived at any time after its start, or never.
  for (const attempt of attempts.toSorted(answeredFirst)) {
    const { number, status_code } = attempt;
    const isOf = (request: WebhookRequest): boolean => isDuring(request, attempt);
    // If a kept connection breaks, the attempt sends its request once more.
    const dropped = left.findIndex((request) => request.dropped && isOf(request));
    if (dropped !== -1) left.splice(dropped, 1);
    const place = left.findIndex((request) => !request.dropped && isOf(request));
    if (place !== -1) left.splice(place, 1);
    else if (status_code !== null) {
      missing.push(`${id} was answered ${status_code} at attempt ${number}, which never arrived`);
    }
  }
  const unrecorded = left
    .filter(({ at }) => !disturbances.some(({ from, to }) => to >= at && from <= at + inFlightMs))
    .map(({ at }) => `${id} arrived at ${at}, but has no attempt for that`);
  return [...missing, ...unrecorded];
}

function isDuring(
  { at }: WebhookRequest,
  { started_at, duration_ms, status_code }: StoredDeliveryAttempt,
): boolean {
  return at >= started_at && (status_code === null || at <= started_at + duration_ms);
}

function answeredFirst(a: StoredDeliveryAttempt, b: StoredDeliveryAttempt): number {
  return Number(a.status_code === null) - Number(b.status_code === null) || a.number - b.number;
}

/** In fifo order, an event first arrives after all that were committed before it. */
function overtaken({ requests, events }: DeliveryEvidence): string[] {
  const places = new Map(events.map(({ id, position }) => [id, position]));
  return endpoints
    .filter(({ ordering }) => ordering === "fifo")
    .flatMap(({ name }) => {
      const firsts = [
        ...Map.groupBy(requests, ({ endpoint, event_id }) => `${endpoint} ${event_id}`).values(),
      ].flatMap(([first]) => (first?.endpoint === name ? [first.event_id] : []));
      return firsts
        .filter((id, i) => i > 0 && (places.get(id) ?? 0) < (places.get(firsts[i - 1] ?? "") ?? 0))
        .map((id) => `${id} arrived at ${name} after a later event`);
    });
}
