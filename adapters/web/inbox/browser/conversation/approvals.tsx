/** The actions of agents that wait for a person's decision. */
import { Fragment, type JSX } from "preact";
import type { Conversation, Json, Run } from "../../../../../src/index.ts";
import { Approval } from "../../../shared/browser/index.ts";
import { useWaitingRuns } from "../state/approvals.ts";
import { nameOfAssignee } from "../state/people.ts";
import { t } from "../texts.ts";

/** What waits in a conversation. It is always there, so that screen readers notice what appears. */
export function Approvals({ row }: { readonly row: Conversation }): JSX.Element {
  const waiting = useWaitingRuns(row);
  const runs = waiting.data ?? [];
  const replace = (next: Run): void =>
    waiting.set((waiting.data ?? []).map((run) => (run.id === next.id ? next : run)));
  return (
    <div class="approvals" role="status">
      {runs.map(
        (run) =>
          run.approval !== null && (
            <Approval
              key={run.approval.call_id}
              run={run}
              title={t("approvalAsked", {
                name: nameOfAssignee({ type: "agent", id: run.agent_id }),
              })}
              onDecided={replace}
              showInput={(input) => <Input value={input} />}
            />
          ),
      )}
    </div>
  );
}

/** The whole input of an action. Whoever approves it must be able to see all of it. */
function Input({ value }: { readonly value: Json }): JSX.Element | null {
  const fields = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const isScalar = typeof value !== "object";
  if (fields.length === 0 && !isScalar) return null;
  return (
    <div class="approval-fields" role="group" aria-label={t("approvalInput")} tabIndex={0}>
      {isScalar ? (
        <bdi>{inWords(value)}</bdi>
      ) : (
        <dl>
          {fields.map(([name, of]) => (
            <Fragment key={name}>
              <dt>
                <bdi>{name}</bdi>
              </dt>
              <dd>
                <bdi>{inWords(of)}</bdi>
              </dd>
            </Fragment>
          ))}
        </dl>
      )}
    </div>
  );
}

const inWords = (value: Json): string =>
  typeof value === "string" && value !== "" ? value : JSON.stringify(value);
