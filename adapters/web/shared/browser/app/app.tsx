/** What surrounds every page: session, sign-in, banner, toasts, and the list of shortcuts. */
import { render, type ComponentType, type JSX } from "preact";
import { noteTimeZone } from "../clock.ts";
import { ErrorState, Skeleton } from "../components/states.tsx";
import { toast, Toasts } from "../components/toasts.tsx";
import { installTooltips } from "../components/tooltip.ts";
import { onReconnect } from "../connection/reachability.ts";
import { currentSession, sessionState } from "../connection/session.ts";
import { loadSession, signIn } from "../connection/sign-in.ts";
import { go, linkTo } from "../router.ts";
import { setLanguage } from "../texts/language.ts";
import { text } from "../texts/shared-texts.ts";
import { Banner } from "./banner.tsx";
import { ShortcutHelp } from "./shortcut-help.tsx";
import { SignIn } from "./sign-in.tsx";
import { applyTheme } from "./theme.ts";

interface ShellProps {
  readonly page: ComponentType;
  /** Returns what people call the page. A function, since the session brings the texts. */
  readonly nameOf: () => string;
}

/** How often a page looks whether the browser's time zone has changed. No event reports it. */
const timeZoneMs = 30_000;

/** Starts a page: reads the session, then shows `page` in the element `#app`. */
export async function startPage({ page, nameOf }: ShellProps): Promise<void> {
  const root = document.getElementById("app");
  if (root === null) throw new Error('The page has no element with the id "app".');
  applyTheme();
  setLanguage({});
  installTooltips();
  setInterval(noteTimeZone, timeZoneMs);
  document.addEventListener("visibilitychange", noteTimeZone);
  // The browser does not load the page again when only the hash of the address changes, which may
  // happen before the first session is read.
  window.addEventListener("hashchange", () => {
    const token = takeToken();
    if (token !== undefined) void enter(token);
  });
  await enter(takeToken());
  onReconnect((reason) => {
    if (reason === "server") toast({ message: text("backOnline") });
  });
  render(<Shell page={page} nameOf={nameOf} />, root);
}

/** Reads the session, or opens one with the token if there is none. */
async function enter(token: string | undefined): Promise<void> {
  await loadSession();
  const state = sessionState.peek();
  if (token === undefined || state.status !== "signed_out" || !state.takesToken) return;
  // The server refuses the token of an earlier start. The page then asks for the present one.
  await signIn(token).catch(() => {});
}

/** Takes the token out of the address `#token=…`, so that no link to the page passes it on. */
function takeToken(): string | undefined {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token !== undefined) go(linkTo([]), true);
  return token;
}

function Shell({ page: Page, nameOf }: ShellProps): JSX.Element {
  const state = sessionState.value;
  const hasSession = currentSession.value !== undefined;
  return (
    <div class="shell">
      <Banner />
      {hasSession && (
        <div class="shell-page">
          <Page />
        </div>
      )}
      {state.status === "signed_out" && <SignIn nameOf={nameOf} />}
      {state.status === "loading" && <Skeleton />}
      {state.status === "failed" && (
        <main>
          <h1 class="visually-hidden">{nameOf()}</h1>
          <ErrorState error={state.error} onRetry={() => void loadSession()} />
        </main>
      )}
      <ShortcutHelp />
      <Toasts />
    </div>
  );
}
