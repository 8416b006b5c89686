/** What surrounds every page: session, sign-in, banner, toasts and the list of shortcuts. */
import { type ComponentChildren, type ComponentType, type JSX, render } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { Button } from "./components/button.tsx";
import { Dialog, useModal } from "./components/dialog.tsx";
import { ErrorState, Skeleton } from "./components/display.tsx";
import { Checkbox, TextField } from "./components/field.tsx";
import { Icon } from "./components/icons.tsx";
import { Menu } from "./components/menu.tsx";
import { Toasts, toast } from "./components/toasts.tsx";
import { installTooltips } from "./components/tooltip.ts";
import { noteTimeZone } from "./clock.ts";
import { current, offlineUntil, onReconnect, session } from "./connection.ts";
import { streamState } from "./events.ts";
import { duration } from "./formats.ts";
import { loadSession, probe, signIn } from "./http.ts";
import { setLanguage } from "./language.ts";
import { explain } from "./problem.ts";
import { text } from "./shared-texts.ts";
import { setSingleKeys, shortcuts, singleKeys, useShortcuts } from "./shortcuts.ts";
import { applyTheme, setTheme, theme } from "./theme.ts";

interface ShellProps {
  readonly page: ComponentType;
  /** What people call the page. The application's texts are known when the session is. */
  readonly nameOf: () => string;
}

/** How long the times of a page may be those of a time zone that a person has left. */
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
  await loadSession();
  onReconnect((reason) => {
    if (reason === "server") toast({ message: text("backOnline") });
  });
  render(<Shell page={page} nameOf={nameOf} />, root);
}

function Shell({ page: Page, nameOf }: ShellProps): JSX.Element {
  const state = session.value;
  const hasSession = current.value !== undefined;
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
        <ErrorState error={state.error} onRetry={() => void loadSession()} />
      )}
      {isHelpOpen.value && <ShortcutHelp />}
      <Toasts />
    </div>
  );
}

/** Says that the server does not answer, and when the page tries again. */
function Banner(): JSX.Element | null {
  const until = offlineUntil.value;
  const [, redraw] = useState(0);
  useEffect(() => {
    if (until === null) return;
    const timer = setInterval(() => redraw((times) => times + 1), 1000);
    return () => clearInterval(timer);
  }, [until]);
  if (until === null) {
    if (streamState.value !== "interrupted") return null;
    return (
      <div class="banner" role="status">
        <Icon name="alert" />
        <span class="grow">{text("streamLost")}</span>
      </div>
    );
  }
  const wait = Math.max(0, until - Date.now());
  return (
    <div class="banner" role="status">
      <Icon name="alert" />
      <span class="grow">
        <strong>{text("offlineTitle")}</strong>{" "}
        <span class="banner-more">{text("offlineBody")}</span>
      </span>
      <span class="banner-wait" aria-hidden="true">
        {wait > 1000 ? text("tryAgainIn", { time: duration(wait) }) : ""}
      </span>
      <Button isSmall onClick={probe}>
        {text("tryNow")}
      </Button>
    </div>
  );
}

/** Covers the page, and each dialog that is open in it, until the person has signed in. */
function SignIn({ nameOf }: Pick<ShellProps, "nameOf">): JSX.Element | null {
  const state = session.value;
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const dialog = useModal();
  const id = useId();
  useEffect(() => {
    // The person has signed in to the application in another tab, and comes back.
    const check = (): void => void loadSession();
    window.addEventListener("focus", check);
    return () => window.removeEventListener("focus", check);
  }, []);
  if (state.status !== "signed_out") return null;
  const submit = async (): Promise<void> => {
    setBusy(true);
    try {
      await signIn(token.trim());
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(false);
    }
  };
  const retry = async (): Promise<void> => {
    setBusy(true);
    await loadSession();
    setBusy(false);
  };
  return (
    <dialog
      ref={dialog}
      class="sign-in"
      aria-labelledby={id}
      onCancel={(event) => event.preventDefault()}
      // On a second Escape, browsers close a dialog even if `cancel` was prevented.
      onClose={() => dialog.current?.showModal()}
    >
      <form
        class="sign-in-card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Brand>{nameOf()}</Brand>
        <h1 id={id}>{text("signInTitle")}</h1>
        {state.last !== undefined && <p>{text("signInAgain")}</p>}
        <p class="muted">{state.takesToken ? text("signInBody") : state.detail}</p>
        {state.takesToken ? (
          <>
            <TextField
              label={text("signInToken")}
              type="password"
              autocomplete="current-password"
              spellcheck={false}
              required
              value={token}
              problem={problem}
              onInput={({ currentTarget }) => setToken(currentTarget.value)}
            />
            <Button kind="primary" type="submit" isBusy={isBusy} disabled={token.trim() === ""}>
              {text("signInButton")}
            </Button>
            <details class="muted">
              <summary>{text("moreOptions")}</summary>
              {state.detail}
            </details>
          </>
        ) : (
          <Button icon="refresh" isBusy={isBusy} onClick={() => void retry()}>
            {text("retry")}
          </Button>
        )}
      </form>
    </dialog>
  );
}

const isHelpOpen = signal(false);

/** Opens the list of all shortcuts. */
export const openShortcutHelp = (): void => {
  isHelpOpen.value = true;
};

/** Adds `?`, which opens the list of shortcuts. */
export function useShortcutHelp(): void {
  useShortcuts([{ key: "?", label: text("shortcutHelp"), run: openShortcutHelp }]);
}

function ShortcutHelp(): JSX.Element {
  return (
    <Dialog title={text("shortcutsTitle")} onClose={() => (isHelpOpen.value = false)}>
      <dl class="shortcut-list">
        {shortcuts.value.map(({ key, label }) => (
          <div key={key} class="shortcut-row">
            <dt>{label}</dt>
            <dd>
              <Keys of={key} />
            </dd>
          </div>
        ))}
      </dl>
      <Checkbox
        label={text("shortcutsEnabled")}
        checked={singleKeys.value}
        onChange={({ currentTarget }) => setSingleKeys(currentTarget.checked)}
      />
      <p class="field-hint">{text("shortcutsHint")}</p>
    </Dialog>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const shownKeys: Partial<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  Enter: "↵",
  Escape: "Esc",
  Ctrl: isMac ? "⌘" : "Ctrl",
};

/** The keys of a shortcut. */
export function Keys({ of }: { readonly of: string }): JSX.Element {
  const keys = of === "+" ? [of] : of.split("+");
  return (
    <span class="keys">
      {keys.map((key) => (
        <kbd key={key}>{shownKeys[key] ?? key}</kbd>
      ))}
    </span>
  );
}

/** The choice of the appearance. */
export function ThemeMenu(): JSX.Element {
  const choices = [
    { value: "system", label: text("themeSystem"), icon: "settings" },
    { value: "light", label: text("themeLight"), icon: "sun" },
    { value: "dark", label: text("themeDark"), icon: "moon" },
  ] as const;
  return (
    <Menu
      label={text("themeLabel")}
      icon={theme.value === "dark" ? "moon" : "sun"}
      items={choices.map(({ value, label, icon }) => ({
        label,
        icon,
        isChosen: theme.value === value,
        onPick: () => setTheme(value),
      }))}
    />
  );
}

/** The name of a page, after its mark. */
export function Brand({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <span class="brand">
      <span class="brand-mark" aria-hidden="true" />
      <span class="truncate">{children}</span>
    </span>
  );
}
