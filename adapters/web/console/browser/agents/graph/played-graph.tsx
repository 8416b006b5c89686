import type { JSX } from "preact";
import type { Playbook, Run } from "../../../../../../src/index.ts";
import {
  api,
  ApiError,
  dateTime,
  Icon,
  linkTo,
  LoadState,
  useResource,
} from "../../../../shared/browser/index.ts";
import { Card } from "../../parts/layout.tsx";
import { t } from "../../texts.ts";
import { StepGraph } from "./step-graph.tsx";
import { takenPath, type PlayedPlaybook } from "./taken-path.ts";

interface PlayedGraphProps {
  readonly run: Run;
  readonly played: PlayedPlaybook;
  /** The page that the card links to: the playbook, or back to the run. */
  readonly linksTo: "playbook" | "run";
}

/** Loads a playbook in the version that was played, or else in the current version. */
async function load({ id, version }: PlayedPlaybook, signal: AbortSignal): Promise<Playbook> {
  const path = `v1/playbooks/${encodeURIComponent(id)}`;
  try {
    return await api.get<Playbook>(path, { query: { version }, signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return api.get<Playbook>(path, { signal });
  }
}

/** The graph of a playbook in the version that a run played, with the path of the run. */
export function PlayedGraph({ run, played, linksTo }: PlayedGraphProps): JSX.Element {
  const { id, version } = played;
  const playbook = useResource((signal) => load(played, signal), [id, version]);
  const { data } = playbook;
  const ofRun = { run: run.id, agent: run.agent_id };
  return (
    <Card
      title={linksTo === "playbook" ? (data?.name ?? t("playbook")) : t("columnSteps")}
      actions={
        linksTo === "playbook" ? (
          <a href={linkTo(["agents", "playbooks", id], ofRun)}>{t("versionNumber", { version })}</a>
        ) : (
          <span class="muted">
            {t("playedBy", { version })}{" "}
            <a href={linkTo(["agents", run.agent_id, run.id])}>{dateTime(run.created_at)}</a>
          </span>
        )
      }
    >
      {data === undefined ? (
        <LoadState of={playbook} />
      ) : (
        <>
          {data.version !== version && (
            <p class="notice tone-warn">
              <Icon name="info" />
              {t("versionGone", { played: version, shown: data.version })}
            </p>
          )}
          <StepGraph steps={data.steps} taken={takenPath(run.steps, played)} />
        </>
      )}
    </Card>
  );
}
