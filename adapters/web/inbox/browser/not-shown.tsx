import type { JSX } from "preact";
import { ApiError, EmptyState, LoadState, type Resource } from "../../shared/browser/index.ts";
import { t } from "./texts.ts";

interface NotShownProps {
  readonly of: Resource<unknown>;
  /** Says that there is no such conversation or contact. */
  readonly title: string;
  /** The address of the list. */
  readonly back: string;
}

/** What stands in the place of a conversation or contact that is not loaded, or does not exist. */
export function NotShown({ of, title, back }: NotShownProps): JSX.Element {
  const { error } = of.state.value;
  if (!(error instanceof ApiError) || error.status !== 404) return <LoadState of={of} rows={5} />;
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
