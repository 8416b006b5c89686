import type { JSX } from "preact";
import type { Playbook } from "../../../../../src/index.ts";
import { api, Facts, linkTo, place, useResource } from "../../../shared/browser/index.ts";
import { useReturn } from "../live.ts";
import { AsJson } from "../parts/json.tsx";
import { Card, LoadingPage, PageView } from "../parts/layout.tsx";
import { Copied } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { EditButtons, EnableButton, EnabledBadge } from "./edit-buttons.tsx";
import { PlayedGraph } from "./graph/played-graph.tsx";
import { StepGraph } from "./graph/step-graph.tsx";
import { playedIn } from "./graph/taken-path.ts";
import { isGoneRun, useRun } from "./runs/run-resource.ts";

/** One playbook: its steps as a graph, and its questions. */
export function PlaybookPage({ id }: { readonly id: string }): JSX.Element {
  const path = `v1/playbooks/${encodeURIComponent(id)}`;
  const { run: runId, agent } = place.value.query;
  const resource = useResource<Playbook>((signal) => api.get(path, { signal }), [path]);
  const runState = useRun(agent, runId).state.value;
  const run = isGoneRun(runState) ? undefined : runState.data;
  useReturn(() => void resource.reload());
  const { data } = resource;
  const back = { href: linkTo(["agents"]), label: t("agents") };
  if (data === undefined) return <LoadingPage title={t("playbook")} back={back} of={resource} />;
  const messages = { enabled: t("playbookEnabled"), disabled: t("playbookDisabled") };
  const played = run && playedIn(run.steps).find((each) => each.id === id);
  return (
    <PageView
      title={data.name}
      about={data.description}
      back={back}
      badge={<EnabledBadge enabled={data.enabled} />}
      actions={
        <>
          <EnableButton
            path={path}
            resource={resource}
            enabled={data.enabled}
            messages={messages}
          />
          <EditButtons
            path={path}
            form={["agents", "playbooks", id, "edit"]}
            name={data.name}
            deleteHint={t("playbookDeleteHint")}
            deletedMessage={t("playbookDeleted")}
          />
        </>
      }
    >
      <div class="message-page">
        {run === undefined || played === undefined ? (
          <Card title={t("columnSteps")}>
            <StepGraph steps={data.steps} />
          </Card>
        ) : (
          <PlayedGraph run={run} played={played} linksTo="run" />
        )}
        <div class="message-side">
          <Card title={t("fields")}>
            <PlaybookFacts playbook={data} />
          </Card>
          <Slots playbook={data} />
        </div>
      </div>
      <AsJson value={data} />
    </PageView>
  );
}

const listOf = (words: readonly string[] = []): JSX.Element | false =>
  words.length > 0 && <bdi>{words.join(", ")}</bdi>;

function PlaybookFacts({ playbook }: { readonly playbook: Playbook }): JSX.Element {
  const { id, trigger, version, on_cancel, max_turns } = playbook;
  return (
    <Facts
      of={[
        [t("triggerWords"), listOf(trigger.keywords)],
        [t("triggerIntents"), listOf(trigger.intents)],
        [t("triggerWhen"), trigger.when && <code>{trigger.when}</code>],
        [t("triggerPriority"), trigger.priority],
        [t("playbookCancel"), on_cancel && <code>{on_cancel}</code>],
        [t("playbookTurns"), max_turns],
        [t("columnVersion"), version],
        [t("fieldId"), <Copied key="id" value={id} />],
      ]}
    />
  );
}

function Slots({ playbook: { slots } }: { readonly playbook: Playbook }): JSX.Element | null {
  if (slots.length === 0) return null;
  return (
    <Card title={t("slots")}>
      <ul class="slots">
        {slots.map(({ name, type, required, prompt }) => (
          <li key={name}>
            <p>
              <code class="strong">{name}</code>{" "}
              <span class="muted">
                {type}
                {!required && ` · ${t("slotOptional")}`}
              </span>
            </p>
            <bdi class="muted">{prompt}</bdi>
          </li>
        ))}
      </ul>
    </Card>
  );
}
