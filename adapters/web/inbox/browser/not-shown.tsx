import type { JSX } from "preact";
import {
  ApiError,
  EmptyState,
  ErrorState,
  Skeleton,
  type Resource,
} from "../../shared/browser/index.ts";
import { t } from "./texts.ts";

interface NotShownProps {
  readonly of: Resource<unknown>;
  /** Says that there is no such conversation or contact. */
  readonly title: string;
  /** The address of the list. */
  readonly back: string;
}

/**
 * What stands in the place of a conversation or contact that is not loaded, or does not exist. One
 * that was loaded and then erased is read again, and still counts as loading meanwhile.
 */
export function NotShown({ of, title, back }: NotShownProps): JSX.Element {
  const { error } = of.state.value;
  if (error === undefined) return <Skeleton rows={5} />;
  if (!(error instanceof ApiError) || error.status !== 404) {
    return <ErrorState error={error} onRetry={() => void of.reload()} />;
  }
  const leave = (
    <a class="button button-secondary" href={back}>
      {t("back")}
    </a>
  );
  return (
    <EmptyState icon="alert" title={title} actions={leave}>
      {t("notFoundHint")}
    </EmptyState>
  );
}
