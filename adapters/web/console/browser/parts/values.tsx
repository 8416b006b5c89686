import type { JSX } from "preact";
import type { Message } from "../../../../../src/index.ts";
import {
  Badge,
  CopyButton,
  dateTime,
  exactDuration,
  shortTime,
  shownAddress,
  timeNow,
  type Tone,
} from "../../../shared/browser/index.ts";
import { contactOf, nameOf } from "../contacts.ts";
import { shownStatus } from "../words.ts";

/** The status of a message. */
export function StatusBadge({ of }: { readonly of: Message["status"] }): JSX.Element {
  const { label, tone, icon } = shownStatus(of);
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}

/** A description, with what stands between backticks as code. */
export const withCode = (text: string): (string | JSX.Element)[] =>
  text.split("`").map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>));

/** A value of programs, with a button that copies it. */
export const Copied = ({ value }: { readonly value: string }): JSX.Element => (
  <span class="copied">
    <bdi class="mono">{value}</bdi>
    <CopyButton value={value} />
  </span>
);

interface TwoLinesProps {
  readonly first: string;
  readonly second: string | null;
}

/** What a row is about, and more about it in a second line. */
export const TwoLines = ({ first, second }: TwoLinesProps): JSX.Element => (
  <span class="two-lines">
    <bdi class="truncate strong">{first}</bdi>
    {second !== null && <bdi class="truncate muted">{second}</bdi>}
  </span>
);

interface ContactProps {
  readonly conversationId: string | null;
  /** The contact's address in the conversation, if the row has one. */
  readonly address?: string;
}

/** The contact of a row: its name if the console knows it, and its address. */
export function ContactCell({ conversationId, address }: ContactProps): JSX.Element {
  const contact = contactOf(conversationId);
  const shown = [nameOf(contact), shownAddress(address ?? contact?.phone ?? "")];
  const [first = "–", second] = new Set(shown.filter(Boolean));
  return (
    <span class="contact-cell">
      <bdi class="truncate">{first}</bdi>
      {second !== undefined && <bdi class="nowrap muted">{second}</bdi>}
    </span>
  );
}

/** The content of an empty cell. On a phone, the cell is left out. */
export const NoValue = (): JSX.Element => <span class="no-value muted">–</span>;

/** A time in a table, if there is one. Its tooltip has the whole time. */
export const When = ({ at }: { readonly at: string | null }): JSX.Element =>
  at === null ? (
    <NoValue />
  ) : (
    <time class="nowrap muted" dateTime={at} data-tooltip={dateTime(at)}>
      {shortTime(at)}
    </time>
  );

/** How long something has waited. Null if nothing waits. */
export const Age = ({ of }: { readonly of: string | null }): JSX.Element =>
  of === null ? (
    <NoValue />
  ) : (
    <time class="nowrap" dateTime={of} data-tooltip={dateTime(of)}>
      {exactDuration(Math.max(0, timeNow() - Date.parse(of)))}
    </time>
  );

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly tone?: Tone;
  /** Sets the value smaller. */
  readonly isText?: boolean;
}

/** A number with its name. */
export function Figure({ name, value, note, tone = "neutral", isText }: FigureProps): JSX.Element {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd class={isText === true ? "is-text" : tone === "neutral" ? "" : `is-toned tone-${tone}`}>
        {value}
      </dd>
      {note !== undefined && <dd class="figure-note muted">{note}</dd>}
    </div>
  );
}
