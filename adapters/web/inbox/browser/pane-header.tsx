import type { ComponentChildren, JSX } from "preact";
import { Avatar, Icon } from "../../shared/browser/index.ts";
import { t } from "./texts.ts";

interface PaneHeaderProps {
  /** The address of the list. */
  readonly back: string;
  readonly contactId: string;
  /** The name of the contact. */
  readonly name: string;
  /** What stands below the name. */
  readonly about: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The head of an open conversation or contact. */
export function PaneHeader(props: PaneHeaderProps): JSX.Element {
  const { back, contactId, name, about, children } = props;
  return (
    <header class="conversation-header">
      <a class="button button-quiet button-icon back" href={back} aria-label={t("back")}>
        <Icon name="back" />
      </a>
      <Avatar name={name} seed={contactId} />
      <div class="grow">
        <h2 class="truncate" dir="auto">
          {name}
        </h2>
        <p class="conversation-sub muted truncate">{about}</p>
      </div>
      {children}
    </header>
  );
}
