import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { KeyScope } from "../../../../src/index.ts";
import {
  Badge,
  Brand,
  currentSession,
  go,
  Icon,
  IconButton,
  isFocusLost,
  linkTo,
  may,
  Menu,
  openShortcutHelp,
  place,
  streamState,
  ThemeMenu,
  useShortcutHelp,
  useShortcuts,
  type IconName,
} from "../../shared/browser/index.ts";
import { AccessPage } from "./access/access.tsx";
import { AgentsPage } from "./agents/agents.tsx";
import { EventsPage } from "./events/events.tsx";
import { follow } from "./live.ts";
import { MessagesPage } from "./messages/messages.tsx";
import { OverviewPage } from "./overview/overview.tsx";
import { Needs, PageView } from "./parts/layout.tsx";
import { RequestsDialog } from "./parts/requests.tsx";
import { PhonesPage } from "./phones/phones.tsx";
import { ReferencePage } from "./reference/reference.tsx";
import { t } from "./texts.ts";
import { WebhooksPage } from "./webhooks/webhooks.tsx";

interface Part {
  readonly id: string;
  readonly name: () => string;
  readonly icon: IconName;
  readonly scopes: readonly KeyScope[];
  readonly view: () => JSX.Element;
}

const parts: readonly Part[] = [
  { id: "overview", name: () => t("overview"), icon: "chart", scopes: [], view: OverviewPage },
  {
    id: "phones",
    name: () => t("phones"),
    icon: "phone",
    scopes: ["sandbox:write", "messages:read", "contacts:read"],
    view: PhonesPage,
  },
  {
    id: "messages",
    name: () => t("messages"),
    icon: "chat",
    scopes: ["messages:read"],
    view: MessagesPage,
  },
  {
    id: "events",
    name: () => t("events"),
    icon: "activity",
    scopes: ["events:read"],
    view: EventsPage,
  },
  {
    id: "webhooks",
    name: () => t("webhooks"),
    icon: "webhook",
    scopes: ["webhooks:read"],
    view: WebhooksPage,
  },
  {
    id: "agents",
    name: () => t("agents"),
    icon: "agent",
    scopes: ["agents:read"],
    view: AgentsPage,
  },
  { id: "access", name: () => t("access"), icon: "key", scopes: [], view: AccessPage },
  { id: "api", name: () => t("reference"), icon: "code", scopes: [], view: ReferencePage },
];

/** A new user of the sandbox first sees its phones. */
function firstPart(): string {
  const phones = parts.find(({ id }) => id === "phones");
  const isUsable = currentSession.value?.mode === "sandbox" && phones?.scopes.every(may) === true;
  return isUsable ? "phones" : "overview";
}

/** The console. Its place is `#/<part>/…`. */
export function Console(): JSX.Element {
  const [hasRequests, showRequests] = useState(false);
  const main = useRef<HTMLElement>(null);
  useEffect(follow, []);
  useShortcutHelp();
  useShortcuts(
    t("pages"),
    parts.map(({ id, name }, index) => ({
      key: String(index + 1),
      label: t("goTo", { page: name() }),
      run: () => go(linkTo([id])),
    })),
  );
  const [asked = firstPart()] = place.value.path;
  const part = parts.find(({ id }) => id === asked);
  const path = place.value.path.join("/");
  const before = useRef(path);
  useLayoutEffect(() => {
    // The link or button that led here may be gone.
    if (path !== before.current && isFocusLost()) main.current?.focus();
    before.current = path;
  }, [path]);
  return (
    <div class="console">
      <a class="skip-link" href="#main" onClick={skipToMain}>
        {t("skipToMain")}
      </a>
      <Sidebar active={part} onRequests={() => showRequests(true)} />
      <main id="main" class="main" ref={main} tabIndex={-1} key={asked}>
        {part === undefined ? (
          <NoSuchPage />
        ) : (
          <Needs scopes={part.scopes} title={part.name()}>
            <part.view />
          </Needs>
        )}
      </main>
      {hasRequests && <RequestsDialog onClose={() => showRequests(false)} />}
    </div>
  );
}

/** What an address shows that no part of the console has. */
function NoSuchPage(): JSX.Element {
  return (
    <PageView title={t("noSuchPage")} about={t("noSuchPageHint")}>
      <div>
        <a class="button button-primary" href={linkTo([firstPart()])}>
          {t("noSuchPageLeave")}
        </a>
      </div>
    </PageView>
  );
}

/** A link to the main part would change the place. */
function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

interface SidebarProps {
  /** The part that is shown. Undefined if there is none. */
  readonly active: Part | undefined;
  readonly onRequests: () => void;
}

function Sidebar({ active, onRequests }: SidebarProps): JSX.Element {
  const { mode, operator } = currentSession.value ?? {};
  return (
    <header class="rail">
      <div class="rail-brand">
        <Brand>{t("title")}</Brand>
        {mode !== undefined && (
          <Badge
            tone={mode === "sandbox" ? "warn" : "good"}
            tip={t(mode === "sandbox" ? "modeSandboxHint" : "modeLiveHint")}
          >
            {t(mode === "sandbox" ? "modeSandbox" : "modeLive")}
          </Badge>
        )}
      </div>
      <nav class="rail-places" aria-label={t("pages")}>
        {parts.map(({ id, name, icon }) => (
          <a
            key={id}
            class="rail-place"
            href={linkTo([id])}
            aria-current={id === active?.id ? "page" : undefined}
          >
            <Icon name={icon} />
            <span class="grow">{name()}</span>
          </a>
        ))}
      </nav>
      <div class="rail-choice">
        <Menu
          label={t("pages")}
          icon={active?.icon ?? "dots"}
          items={parts.map(({ id, name, icon }) => ({
            label: name(),
            icon,
            isChosen: id === active?.id,
            onPick: () => go(linkTo([id])),
          }))}
        >
          {active?.name() ?? t("pages")}
        </Menu>
      </div>
      <div class="rail-end">
        <StreamState />
        <span class="rail-operator">
          <bdi class="rail-name">{operator?.name}</bdi>
        </span>
        <IconButton icon="terminal" label={t("requests")} onClick={onRequests} />
        <IconButton
          icon="keyboard"
          class="hide-on-phone"
          label={t("shortcuts")}
          shortcut="?"
          onClick={openShortcutHelp}
        />
        <ThemeMenu />
      </div>
    </header>
  );
}

/** Whether events arrive as they happen. */
function StreamState(): JSX.Element {
  const state = streamState.value;
  const name = t(
    state === "live" ? "streamLive" : state === "connecting" ? "streamConnecting" : "streamLost",
  );
  return (
    <span class={`stream-state is-${state}`} role="img" aria-label={name} data-tooltip={name} />
  );
}
