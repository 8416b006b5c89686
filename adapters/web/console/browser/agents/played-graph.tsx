import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Playbook, Run } from "../../../../../src/index.ts";
import {
  dateTime,
  ErrorState,
  Icon,
  linkTo,
  Resource,
  Skeleton,
} from "../../../shared/browser/index.ts";
import { Card } from "../parts/layout.tsx";
import { t } from "../texts.ts";
import { loadPlayed } from "./run-resource.ts";
import { StepGraph } from "./step-graph.tsx";
import { type Played, takenPath } from "./taken-path.ts";

interface PlayedGraphProps {
  readonly run: Run;
  readonly played: Played;
  /** Whether the card links to the playbook. Otherwise it links back to the run. */
  readonly isLinked: boolean;
}

/** The graph of a playbook in the version that a run played, with the path of the run. */
export function PlayedGraph({ run, played, isLinked }: PlayedGraphProps): JSX.Element {
  const { id, version } = played;
  const playbook = useMemo(
    () => new Resource<Playbook>((signal) => loadPlayed(played, signal)),
    [id, version],
  );
  useEffect(() => {
    void playbook.reload();
    return () => playbook.stop();
  }, [playbook]);
  const { data, error } = playbook.state.value;
  const ofRun = { run: run.id, agent: run.agent_id };
  return (
    <Card
      title={isLinked ? (data?.name ?? t("playbook")) : t("columnSteps")}
      actions={
        isLinked ? (
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
        error === undefined ? (
          <Skeleton />
        ) : (
          <ErrorState error={error} onRetry={() => void playbook.reload()} />
        )
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
