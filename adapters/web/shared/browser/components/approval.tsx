import type { ComponentChildren, JSX } from "preact";
import { useId, useState } from "preact/hooks";
import type { Json, Run } from "../../../../../src/index.ts";
import { api } from "../connection/http.ts";
import { ApiError } from "../connection/problem.ts";
import { may } from "../connection/session.ts";
import { useFocusPassedOn } from "../keyboard/focus.ts";
import { text } from "../texts/shared-texts.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icons.tsx";
import { toast, toastError } from "./toasts.tsx";

type Decision = "approve" | "deny";

interface ApprovalProps {
  readonly run: Run;
  /** What stands before the name of the action. */
  readonly title: string;
  /** Gets the run after the decision, also after that of another person. */
  readonly onDecided: (run: Run) => void;
  /** Shows the input of an action. */
  readonly showInput: (input: Json) => ComponentChildren;
}

/**
 * Shows the action that a run waits for, and those that wait after it. People with the right can
 * approve or deny the first.
 */
export function Approval({ run, title, onDecided, showInput }: ApprovalProps): JSX.Element {
  const id = useId();
  return (
    <section class="approval" aria-labelledby={id}>
      <h2 id={id}>
        <Icon name="person" />
        <span class="grow">
          {title} {run.approval && <code>{run.approval.action}</code>}
        </span>
      </h2>
      {run.approval && showInput(run.approval.input)}
      <div class="approval-end">
        <p class="grow muted">{text("approvalWaits")}</p>
        {may("agents:trigger") && <Buttons run={run} describedBy={id} onDecided={onDecided} />}
      </div>
      {run.later_approvals.length > 0 && (
        <div class="approval-later">
          <h3 class="muted">{text("approvalsLater")}</h3>
          <ol>
            {run.later_approvals.map(({ call_id, action, input }) => (
              <li key={call_id}>
                <code>{action}</code>
                {showInput(input)}
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  );
}

interface ButtonsProps extends Pick<ApprovalProps, "run" | "onDecided"> {
  /** The id of what says which action it is. */
  readonly describedBy: string;
}

function Buttons({ run, describedBy, onDecided }: ButtonsProps): JSX.Element {
  const [busy, setBusy] = useState<Decision>();
  const approve = useFocusPassedOn<HTMLButtonElement>();
  const deny = useFocusPassedOn<HTMLButtonElement>();
  const decide = async (decision: Decision): Promise<void> => {
    setBusy(decision);
    try {
      const body = { decision, call_id: run.approval?.call_id };
      const decided = await api.post<Run>(`${pathOf(run)}/approve`, body);
      toast({ message: text(decision === "approve" ? "approved" : "denied") });
      onDecided(decided);
    } catch (error) {
      const decided = await decidedBefore(run, error);
      if (decided === undefined) return toastError(error);
      toast({ message: text("decidedBefore"), isError: true });
      onDecided(decided);
    } finally {
      setBusy(undefined);
    }
  };
  const propsOf = (decision: Decision) => ({
    buttonRef: decision === "approve" ? approve : deny,
    isBusy: busy === decision,
    disabled: busy !== undefined && busy !== decision,
    "aria-describedby": describedBy,
    onClick: () => void decide(decision),
  });
  return (
    <div class="approval-buttons">
      <Button {...propsOf("deny")}>{text("deny")}</Button>
      <Button {...propsOf("approve")} kind="primary">
        {text("approve")}
      </Button>
    </div>
  );
}

const pathOf = ({ agent_id, id }: Run): string => `v1/agents/${agent_id}/runs/${id}`;

/**
 * Returns the run if it no longer waits for this decision. A conflict may also mean that the action
 * cannot be approved now, such as while people have the conversation.
 */
async function decidedBefore(run: Run, error: unknown): Promise<Run | undefined> {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const now = await api.get<Run>(pathOf(run)).catch(() => undefined);
  return now?.approval?.call_id === run.approval?.call_id ? undefined : now;
}
