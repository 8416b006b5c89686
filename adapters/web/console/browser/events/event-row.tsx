import { Fragment, type JSX } from "preact";
import type { Contact, Event } from "../../../../../src/index.ts";
import {
  dateTime,
  isVisible,
  linkTo,
  shownAddress,
  timeOfDay,
} from "../../../shared/browser/index.ts";

interface EventRowProps {
  readonly event: Event;
  readonly tabIndex: 0 | -1;
  readonly isOpen: boolean;
  readonly type: string | undefined;
}

/** An event in the list: a link to it. */
export function EventRow({ event, tabIndex, isOpen, type }: EventRowProps): JSX.Element {
  return (
    <a
      class="event-row"
      href={linkTo(["events", event.id], { type })}
      aria-current={isOpen ? "true" : undefined}
      tabIndex={tabIndex}
    >
      <span class={`event-dot is-${event.type.split(".")[0] ?? ""}`} />
      <code class="event-type truncate">{event.type}</code>
      <Summary event={event} />
      <time
        class="muted nowrap"
        dateTime={event.created_at}
        data-tooltip={dateTime(event.created_at)}
      >
        {timeOfDay(event.created_at)}
      </time>
    </a>
  );
}

function Summary({ event }: { readonly event: Event }): JSX.Element {
  const [first, ...others] = summaryOf(event);
  return (
    <span class="event-summary truncate muted" dir="auto">
      {others.length === 0 ? first : <bdi>{first}</bdi>}
      {others.map((each, index) => (
        <Fragment key={index}>
          {" · "}
          <bdi>{each}</bdi>
        </Fragment>
      ))}
    </span>
  );
}

/** What the event is about, in a few words. */
function summaryOf({ type, data }: Event): readonly string[] {
  switch (type) {
    case "message.received":
      return [data.body];
    case "message.updated":
      return [`${data.previous_status} → ${data.status}`, shownAddress(data.to)];
    case "message.sent":
    case "message.failed":
      return [data.status, shownAddress(data.to)];
    case "message.redacted":
      return [data.message_id];
    case "contact.erased":
      return [data.contact_id];
    case "contact.created":
    case "contact.updated":
      return [personIn(data)];
    case "contact.opted_in":
    case "contact.opted_out":
      return [shownAddress(data.address)];
    case "conversation.created":
    case "conversation.updated":
    case "conversation.closed":
      return [personIn(data.conversation), data.conversation.status, data.conversation.handler];
    case "conversation.handoff":
      return [personIn(data), data.reason];
    case "sentiment.changed":
      return [personIn(data), `${data.from?.label ?? "–"} → ${data.to.label}`];
    case "agent.run.awaiting_approval":
      return [data.action];
    case "agent.run.approval_decided":
      return [data.decision, data.action];
    case "agent.run.completed":
      return [data.run.status];
    case "webhook.disabled":
      return [data.url];
    default:
      return [];
  }
}

interface AboutPerson {
  readonly contact: Pick<Contact, "id" | "name" | "phone">;
}

const personIn = ({ contact: { id, name, phone } }: AboutPerson): string =>
  shownAddress(isVisible(name) ? name : (phone ?? id));
