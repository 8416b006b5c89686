import type { ComponentChildren, JSX } from "preact";
import { Avatar, linkTo, place, shortTime } from "../../../shared/browser/index.ts";
import { now } from "../state/now.ts";

interface ListRowProps {
  readonly class: string;
  /** The path of the page that the row opens. */
  readonly path: readonly string[];
  readonly name: string;
  readonly contactId: string;
  readonly at: string;
  /** The tooltip of the time. */
  readonly tip: string;
  readonly isActive: boolean;
  readonly tabIndex: 0 | -1;
  /** The lines below the name. */
  readonly children: ComponentChildren;
}

/** A row of a list: a link, with the contact's name and a time in its first line. */
export function ListRow(props: ListRowProps): JSX.Element {
  const { path, name, contactId, at, tip, isActive, tabIndex, children } = props;
  return (
    <a
      class={`row ${props.class} ${isActive ? "is-active" : ""}`}
      href={linkTo(path, place.value.query)}
      aria-current={isActive ? "true" : undefined}
      draggable={false}
      tabIndex={tabIndex}
    >
      <Avatar name={name} seed={contactId} />
      <span class="row-main">
        <span class="row-line">
          <span class="row-name truncate grow" dir="auto">
            {name}
          </span>
          <time class="row-time" dateTime={at} data-tooltip={tip}>
            {shortTime(at, now.value)}
          </time>
        </span>
        {children}
      </span>
    </a>
  );
}
