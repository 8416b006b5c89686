/** What stands in the place of content: nothing to show, an error, or still loading. */
import type { ComponentChildren, JSX } from "preact";
import { ApiError, explain } from "../connection/problem.ts";
import type { Resource } from "../connection/resource.ts";
import { useFocusPassedOn } from "../keyboard/focus.ts";
import { text } from "../texts/shared-texts.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { Icon, type IconName } from "./icons.tsx";

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

/**
 * Whether a person can try again. Not after a 401: the page itself loads again when the person has
 * signed in.
 */
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

interface LoadStateProps {
  readonly of: Resource<unknown>;
  /** How many rows the skeleton has. */
  readonly rows?: number;
}

/** Says that something is loading, or why its last load failed. Nothing once it is loaded. */
export function LoadState({ of, rows }: LoadStateProps): JSX.Element | null {
  const { data, error } = of.state.value;
  if (error !== undefined) return <ErrorState error={error} onRetry={() => void of.reload()} />;
  return data === undefined ? <Skeleton rows={rows} /> : null;
}

/** Grey bars in the shape of what is loading. */
export function Skeleton({ rows = 3 }: { readonly rows?: number | undefined }): JSX.Element {
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
