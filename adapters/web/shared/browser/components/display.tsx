import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { currentSession } from "../connection/session.ts";
import { useFocusPassedOn } from "../keyboard/focus.ts";
import { explain, ApiError } from "../connection/problem.ts";
import { text } from "../texts/shared-texts.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Icon, type IconName } from "./icons.tsx";
import { webAddress } from "./safe-link.tsx";

/** The meaning of a color. */
export type Tone = "neutral" | "accent" | "good" | "warn" | "bad";

interface BadgeProps {
  readonly tone?: Tone;
  readonly icon?: IconName;
  /** What a tooltip says. */
  readonly tip?: string;
  readonly children: ComponentChildren;
}

export function Badge({ tone = "neutral", icon, tip, children }: BadgeProps): JSX.Element {
  return (
    <span class={`badge tone-${tone}`} data-tooltip={tip}>
      {icon && <Icon name={icon} />}
      <bdi class="truncate">{children}</bdi>
    </span>
  );
}

interface AvatarProps {
  readonly name: string;
  /** Decides the color, so that two people of one name differ. Default: the name. */
  readonly seed?: string;
  readonly icon?: IconName;
  readonly size?: "small" | "large";
  /** The address of an operator's picture. Pictures of strangers are never loaded. */
  readonly picture?: string | null | undefined;
}

const hues = 8;

/** The picture of an operator, if its origin is allowed, else the initials of the name. */
export function Avatar({ name, seed = name, icon, size, picture }: AvatarProps): JSX.Element {
  const [broken, setBroken] = useState<string>();
  const source = picture === broken ? undefined : pictureAddress(picture);
  let hash = 0;
  for (const character of seed) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_521;
  return (
    <span
      class={size === undefined ? "avatar" : `avatar avatar-${size}`}
      data-hue={icon ? "none" : hash % hues}
      aria-hidden="true"
    >
      {icon ? <Icon name={icon} /> : (initials(name) ?? <Icon name="person" />)}
      {source !== undefined && (
        <img
          src={source}
          alt=""
          decoding="async"
          referrerpolicy="no-referrer"
          onError={() => setBroken(picture ?? undefined)}
        />
      )}
    </span>
  );
}

/** The content security policy of the page stops pictures of all other origins. */
function pictureAddress(given: string | null | undefined): string | undefined {
  const address = webAddress(given ?? "");
  if (address === undefined) return undefined;
  const { origin } = new URL(address);
  const isAllowed =
    origin === location.origin || currentSession.value?.avatar_origins?.includes(origin) === true;
  return isAllowed ? address : undefined;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The first letters of the first and the last word. A phone number has none. */
export function initials(name: string): string | undefined {
  const words = name
    .slice(0, 200)
    .split(/\s+/)
    .filter((word) => /^\p{L}/u.test(word));
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words.slice(0, 1);
  const first = letters.map((word = "") => {
    for (const { segment } of segmenter.segment(word.slice(0, 16))) return segment.slice(0, 4);
    return "";
  });
  return first.join("").toUpperCase() || undefined;
}

interface StateProps {
  readonly icon?: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** What stands where there is nothing to show. */
export function EmptyState({ icon = "inbox", title, children, actions }: StateProps): JSX.Element {
  return (
    <div class="state">
      <span class="state-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      {children !== undefined && <p class="muted">{children}</p>}
      {actions}
    </div>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  /** Tries again. A person can call it if another try may succeed. */
  readonly onRetry: () => void;
}

/** What stands where something could not be loaded. */
export function ErrorState({ error, onRetry }: ErrorStateProps): JSX.Element {
  const { status, requestId } =
    error instanceof ApiError
      ? { status: error.status, requestId: error.problem.request_id }
      : { status: undefined, requestId: undefined };
  const hint = hintFor(error);
  return (
    <div class="state" role="alert">
      <span class="state-icon tone-bad">
        <Icon name="alert" />
      </span>
      <h2>
        {text(status === 403 ? "errorForbidden" : status === 404 ? "errorNotFound" : "errorTitle")}
      </h2>
      <p class="muted">{explain(error)}</p>
      {hint !== undefined && <p class="muted">{hint}</p>}
      {canRetry(error) && <RetryButton icon="refresh" onClick={onRetry} />}
      {requestId !== undefined && (
        <p class="muted mono state-detail">{text("errorRequest", { id: requestId })}</p>
      )}
    </div>
  );
}

/** What stands where a small part of a page could not be loaded. */
export function ErrorNote({ error, onRetry }: ErrorStateProps): JSX.Element {
  return (
    <div class="error-note tone-bad" role="alert">
      <Icon name="alert" />
      <span class="grow">
        {explain(error)} {hintFor(error)}
      </span>
      {canRetry(error) && <RetryButton isSmall onClick={onRetry} />}
    </div>
  );
}

/** The page reads again by itself what got a 401, once the person has signed in. */
const canRetry = (error: unknown): boolean => !(error instanceof ApiError) || error.isTemporary;

/** What to do about an error that another try would meet again. */
function hintFor(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || canRetry(error) || error.status === 401) return undefined;
  if (error.status === 404) return text("errorNotFoundHint");
  if (error.isAboutFields) return undefined;
  if (error.status !== 403) return text("errorFinalHint");
  // The details of other refusals say what to do.
  return error.code === "insufficient_scope" ? text("errorForbiddenHint") : undefined;
}

type RetryProps = Pick<ButtonProps, "icon" | "isSmall" | "onClick">;

/** The button goes once the try has succeeded. */
function RetryButton(props: RetryProps): JSX.Element {
  const button = useFocusPassedOn<HTMLButtonElement>();
  return (
    <Button {...props} buttonRef={button}>
      {text("retry")}
    </Button>
  );
}

/** Grey bars in the shape of what is loading. */
export function Skeleton({ rows = 3 }: { readonly rows?: number }): JSX.Element {
  return (
    <div class="skeleton" role="status" aria-label={text("loading")}>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} class="skeleton-row">
          <span class="skeleton-disc" />
          <span class="skeleton-lines">
            <span class="skeleton-line" />
            <span class="skeleton-line is-short" />
          </span>
        </div>
      ))}
    </div>
  );
}
