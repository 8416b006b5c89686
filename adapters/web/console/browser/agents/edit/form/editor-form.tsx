/** The frame of a form: its page, its sections and its buttons. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import {
  Button,
  DiscardQuestion,
  explain,
  go,
  Icon,
  linkTo,
  useEntries,
} from "../../../../../shared/browser/index.ts";
import { Card, PageView } from "../../../parts/layout.tsx";
import { t } from "../../../texts.ts";
import { e } from "../texts.ts";
import { placeOf, type AgentOrPlaybook, type Form } from "./form.ts";

interface EditorFormProps<Values> {
  readonly kind: "agents" | "playbooks";
  /** What is edited. Undefined for something new. */
  readonly edited: AgentOrPlaybook | undefined;
  readonly form: Form<Values>;
  readonly children: ComponentChildren;
}

/** A page with a form, which says what the server finds wrong. */
export function EditorForm<Values>(props: EditorFormProps<Values>): JSX.Element {
  const { kind, edited, form, children } = props;
  const [isAsking, setAsking] = useState(false);
  const entries = useEntries();
  const canSave = edited === undefined || form.isChanged;
  const isAgent = kind === "agents";
  const back =
    edited === undefined
      ? { href: linkTo(["agents"]), label: t("agents") }
      : { href: placeOf(kind, edited.id), label: edited.name };
  const title =
    edited === undefined
      ? e(isAgent ? "agentNew" : "playbookNew")
      : e("editNamed", { name: edited.name });
  const save =
    edited === undefined
      ? e(isAgent ? "agentCreate" : "playbookCreate")
      : e("saveVersion", { version: edited.version + 1 });
  const keep = (): void => {
    setAsking(false);
    entries.goOn();
  };
  const leave = (): void => {
    form.discard();
    go(back.href);
  };
  return (
    <PageView title={title} back={back}>
      <form
        class="editor"
        noValidate
        onFocusIn={({ target }) => {
          // Whoever goes on typing has answered.
          if (entries.enter(target)) setAsking(false);
        }}
        onSubmit={(event) => {
          event.preventDefault();
          if (canSave && !form.isBusy) void form.save();
        }}
      >
        {form.isRestored && (
          <p class="notice tone-neutral" role="status">
            <Icon name="info" />
            <span class="grow">{e("restored")}</span>
            <Button isSmall onClick={form.discard}>
              {e("discard")}
            </Button>
          </p>
        )}
        {children}
        <footer class="editor-end">
          {form.error !== undefined && (
            <p class="notice tone-bad" role="alert">
              <Icon name="alert" />
              <span class="pre-line">{explain(form.error)}</span>
            </p>
          )}
          <div class="editor-buttons">
            {isAsking ? (
              <DiscardQuestion onKeep={keep} onDiscard={leave} />
            ) : (
              <>
                <Button onClick={() => (form.isChanged ? setAsking(true) : leave())}>
                  {t("cancel")}
                </Button>
                <Button kind="primary" type="submit" isBusy={form.isBusy} disabled={!canSave}>
                  {save}
                </Button>
              </>
            )}
          </div>
        </footer>
      </form>
    </PageView>
  );
}

interface SectionProps {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a form. */
export const Section = ({ title, about, children }: SectionProps): JSX.Element => (
  <Card title={title}>
    {about !== undefined && <p class="muted">{about}</p>}
    {children}
  </Card>
);
