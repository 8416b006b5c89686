import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { EmptyState, linkTo, LoadState, place } from "../../../shared/browser/index.ts";
import { PageView } from "../parts/layout.tsx";
import { Method } from "../parts/requests.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { t } from "../texts.ts";
import { apiDocument, loadDocument, type ApiDocument, type Operation } from "./document.ts";
import { OperationView } from "./operation.tsx";

/** One route with its method and path. */
export interface Route {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function routesOf(document: ApiDocument): readonly Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId ?? `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}

/** Every endpoint of the API, with a form to try it. */
export function ReferencePage(): JSX.Element {
  const [, open] = place.value.path;
  const [words, setWords] = useState("");
  useEffect(loadDocument, []);
  const { data } = apiDocument;
  if (data === undefined) {
    return (
      <PageView title={t("reference")}>
        <LoadState of={apiDocument} rows={8} />
      </PageView>
    );
  }
  const routes = routesOf(data);
  const route = routes.find(({ id }) => id === open);
  const wanted = words.trim().toLowerCase();
  const shown = routes.filter(({ method, path, operation }) =>
    `${method} ${path} ${operation.summary ?? ""}`.toLowerCase().includes(wanted),
  );
  const tags = [...new Set(shown.map(({ operation }) => operation.tags?.[0] ?? ""))];
  return (
    <PageView title={t("reference")} about={t("referenceAbout")} isFull>
      <div class={open === undefined ? "panes panes-reference" : "panes panes-reference has-open"}>
        <nav class="pane pane-list" aria-label={t("endpoints")}>
          <div class="filters">
            <SearchField
              label={t("endpointsFind")}
              placeholder={t("endpointsFindHint")}
              value={words}
              onChange={setWords}
            />
          </div>
          <div class="routes">
            {tags.map((tag) => (
              <section key={tag}>
                <h2 class="muted">{tag}</h2>
                <ul>
                  {shown
                    .filter(({ operation }) => (operation.tags?.[0] ?? "") === tag)
                    .map((each) => (
                      <li key={each.id}>
                        <RouteLink route={each} isOpen={each.id === open} />
                      </li>
                    ))}
                </ul>
              </section>
            ))}
            {shown.length === 0 && <p class="list-note muted">{t("endpointsNone")}</p>}
          </div>
        </nav>
        <section class="pane pane-detail" aria-label={route?.operation.summary ?? t("endpoints")}>
          {route === undefined ? (
            <EmptyState icon="code" title={t("endpointNone")}>
              {t("endpointNoneHint")}
            </EmptyState>
          ) : (
            <OperationView key={route.id} {...route} />
          )}
        </section>
      </div>
    </PageView>
  );
}

interface RouteLinkProps {
  readonly route: Route;
  readonly isOpen: boolean;
}

function RouteLink({ route, isOpen }: RouteLinkProps): JSX.Element {
  const { id, method, path, operation } = route;
  return (
    <a class="route" href={linkTo(["api", id])} aria-current={isOpen ? "true" : undefined}>
      <Method name={method} />
      <span class="two-lines grow">
        <span class="truncate">{operation.summary}</span>
        <code class="truncate muted">{path}</code>
      </span>
    </a>
  );
}
