import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { KeyScope } from "../../../../../src/index.ts";
import {
  Button,
  EmptyState,
  ErrorState,
  go,
  Icon,
  linkTo,
  LoadState,
  may,
  place,
  Select,
  Skeleton,
  type Resource,
} from "../../../shared/browser/index.ts";
import type { PagedList } from "../paged.ts";
import { t } from "../texts.ts";

interface PageViewProps {
  readonly title: string;
  /** What the page is for, in one sentence. */
  readonly about?: ComponentChildren;
  /** Where the link before the title goes. */
  readonly back?: { readonly href: string; readonly label: string };
  /** What stands after the title. */
  readonly badge?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Uses the whole width and height, and scrolls inside. */
  readonly isFull?: boolean;
  readonly children: ComponentChildren;
}

/** One page of the console, with its title and actions. */
export function PageView(props: PageViewProps): JSX.Element {
  const { title, about, back, badge, actions, isFull, children } = props;
  // Before the paint, so that the tab and the heading never name two pages.
  useLayoutEffect(() => {
    document.title = t("documentTitle", { page: title });
  }, [title]);
  return (
    <div class={isFull === true ? "page is-full" : "page"}>
      <header class="page-header">
        <div class="page-heading">
          {back && (
            <a class="page-back" href={back.href}>
              <Icon name="back" />
              {back.label}
            </a>
          )}
          <div class="page-title">
            <h1>
              <bdi>{title}</bdi>
            </h1>
            {badge}
          </div>
          {about !== undefined && <p class="muted">{about}</p>}
        </div>
        {actions !== undefined && <div class="page-actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

interface LoadingPageProps {
  readonly title: string;
  readonly back: NonNullable<PageViewProps["back"]>;
  readonly of: Resource<unknown>;
}

/** A page whose content is not there yet, or could not be loaded. */
export const LoadingPage = ({ title, back, of }: LoadingPageProps): JSX.Element => (
  <PageView title={title} back={back}>
    <LoadState of={of} />
  </PageView>
);

interface CardProps {
  readonly title?: string;
  /** How many there are, after the title. */
  readonly count?: string;
  readonly actions?: ComponentChildren;
  /** Lets the content reach the edges, as a table does. */
  readonly isFlush?: boolean;
  readonly children: ComponentChildren;
}

/** A part of a page on a surface of its own. */
export function Card({ title, count, actions, isFlush, children }: CardProps): JSX.Element {
  return (
    <section class={isFlush === true ? "card is-flush" : "card"}>
      {title !== undefined && (
        <header class="card-header">
          <h2 class="grow">
            {title} {count !== undefined && <span class="count">{count}</span>}
          </h2>
          {actions !== undefined && <div class="card-actions">{actions}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

interface PagedProps<Row extends { readonly id: string }> {
  readonly list: PagedList<Row>;
  /** Whether a row is left out. */
  readonly isHidden?: (row: Row) => boolean;
  /** What stands there if there are no rows. */
  readonly empty: ComponentChildren;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

/** A list with its loading, error and empty states, and a button for the next page. */
export function Paged<Row extends { readonly id: string }>(props: PagedProps<Row>): JSX.Element {
  const { list, isHidden, empty, children } = props;
  const { rows: loaded, hasMore, isLoading, error } = list.state.value;
  const failure = error !== undefined && (
    <ErrorState error={error} onRetry={() => void list.retry()} />
  );
  if (loaded === undefined) return failure || <Skeleton rows={4} />;
  const rows = loaded.filter((row) => isHidden?.(row) !== true);
  return (
    <>
      {rows.length === 0 && !hasMore ? empty : children(rows)}
      {failure}
      {hasMore && !failure && (
        <div class="more">
          <Button isBusy={isLoading} onClick={() => void list.more()}>
            {t("loadMore")}
          </Button>
        </div>
      )}
    </>
  );
}

interface StatusFilterProps<Status extends string> {
  readonly statuses: readonly Status[];
  readonly nameOf: (status: Status) => string;
  /** The choice of every status, in words. */
  readonly all: string;
}

/** Chooses the status of the rows to show. The choice is in the address of the page. */
export function StatusFilter<Status extends string>(props: StatusFilterProps<Status>): JSX.Element {
  const { statuses, nameOf, all } = props;
  const { path, query } = place.value;
  return (
    <Select
      label={t("columnStatus")}
      isLabelHidden
      value={query["status"] ?? ""}
      options={[
        { value: "", label: all },
        ...statuses.map((value) => ({ value, label: nameOf(value) })),
      ]}
      onChange={(status) => go(linkTo(path, { status }), true)}
    />
  );
}

interface NeedsProps {
  readonly scopes: readonly KeyScope[];
  /** The title of the page. */
  readonly title: string;
  readonly children: ComponentChildren;
}

/** Shows a page only to people who may use it. */
export function Needs({ scopes, title, children }: NeedsProps): JSX.Element {
  const missing = scopes.filter((scope) => !may(scope));
  if (missing.length === 0) return <>{children}</>;
  return <MissingScopes scopes={missing} title={title} />;
}

/** A page that the person may not use. */
export function MissingScopes({ scopes, title }: Omit<NeedsProps, "children">): JSX.Element {
  return (
    <PageView title={title}>
      <EmptyState icon="key" title={t("missingScope")}>
        {t("missingScopeHint", { scopes: scopes.join(", ") })}
      </EmptyState>
    </PageView>
  );
}
