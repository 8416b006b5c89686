/** The state of a form. What a person types survives a reload of the page until it is saved. */
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import {
  api,
  currentSession,
  goFromHere,
  linkTo,
  newKey,
  recall,
  remember,
  toast,
} from "../../../../../shared/browser/index.ts";
import { changedFields } from "../../../changed-fields.ts";
import { e } from "../texts.ts";
import { Problems } from "./problems.ts";
import type { Body } from "./values.ts";

/** The names of the fields that are texts. */
type TextName<Values> = {
  [Name in keyof Values]: Values[Name] extends string ? Name : never;
}[keyof Values] &
  string;

/** The props of a control that shows and changes one text. */
export interface BoundField {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly problem: string | undefined;
  /** A browser would fill in what it knows of the person, such as an address. */
  readonly autocomplete: "off";
}

/**
 * Returns the props of the control of a field. A request has the field at `pointer` below its
 * object, or else under its name.
 */
type Bind<Values> = (name: TextName<Values>, pointer?: string) => BoundField;

/** Binds controls to the texts of an object, which a request has at the JSON pointer `at`. */
export const bind =
  <Values extends object>(
    values: Values,
    set: (change: Partial<Values>) => void,
    problems: Problems,
    at: string,
  ): Bind<Values> =>
  (name, pointer = name) => ({
    value: String(values[name]),
    onChange: (value) => set({ [name]: value } as Partial<Values>),
    problem: problems.in(`${at}/${pointer}`),
    autocomplete: "off",
  });

/** A form and what a person typed in it. */
export interface Form<Values> {
  readonly values: Values;
  readonly field: Bind<Values>;
  /** Changes some of the fields. */
  readonly set: (change: Partial<Values>) => void;
  /** Whether the form began with what a person typed earlier and did not save. */
  readonly isRestored: boolean;
  readonly isChanged: boolean;
  /** Returns to the saved values. */
  readonly discard: () => void;
  readonly problems: Problems;
  /** Why the form could not be saved. */
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly save: () => Promise<void>;
}

/** An agent or a playbook, as far as both are alike. */
export interface AgentOrPlaybook {
  readonly id: string;
  readonly name: string;
  readonly version: number;
}

interface FormOptions<Values> {
  readonly kind: "agents" | "playbooks";
  /** What is edited. Undefined for something new. */
  readonly edited: AgentOrPlaybook | undefined;
  readonly saved: Values;
  /** The body of a request that saves the values. */
  readonly bodyOf: (values: Values) => Body;
}

/** The place in the console of an agent or a playbook. */
export const placeOf = (kind: FormOptions<unknown>["kind"], id: string): string =>
  linkTo(kind === "agents" ? ["agents", id] : ["agents", "playbooks", id]);

export function useForm<Values extends object>(options: FormOptions<Values>): Form<Values> {
  const { kind, edited, saved, bodyOf } = options;
  const id = edited?.id ?? (kind === "agents" ? "agent" : "playbook");
  const storageKey = useMemo(() => storageKeyOf(id), [id]);
  const [restored] = useState(() => restore(storageKey, saved));
  const [values, setValues] = useState(restored ?? saved);
  const [isRestored, setRestored] = useState(restored !== undefined);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const content = JSON.stringify(values);
  const isChanged = content !== JSON.stringify(saved);
  // The same values get the same key, so that a repetition saves once.
  const key = useMemo(newKey, [content]);
  const problems = useMemo(() => new Problems(error), [error]);
  useLayoutEffect(() => {
    if (error === undefined) return;
    // The first field with a problem gets the focus.
    document
      .querySelector<HTMLElement>(".editor :is([aria-invalid=true], [data-invalid])")
      ?.focus();
  }, [error]);
  const set = (change: Partial<Values>): void => {
    const next = { ...values, ...change };
    setValues(next);
    // Only what the person has changed: another person may save the form before it is restored.
    remember(storageKey, JSON.stringify(changedFields(saved, next)));
  };
  const send = async (): Promise<void> => {
    const leave = goFromHere();
    const isAgent = kind === "agents";
    if (edited === undefined) {
      const created = await api.post<AgentOrPlaybook>(`v1/${kind}`, bodyOf(values), { key });
      toast({ message: e(isAgent ? "agentCreated" : "playbookCreated") });
      leave(placeOf(kind, created.id));
    } else {
      const changes = changedFields(bodyOf(saved), bodyOf(values));
      const path = `v1/${kind}/${edited.id}`;
      const { version } = await api.patch<AgentOrPlaybook>(path, changes, { key });
      toast({ message: e(isAgent ? "agentSaved" : "playbookSaved", { version }) });
      leave(placeOf(kind, edited.id));
    }
  };
  return {
    values,
    field: bind(values, set, problems, ""),
    set,
    isRestored,
    isChanged,
    discard: () => {
      setValues(saved);
      setError(undefined);
      setRestored(false);
      remember(storageKey, undefined);
    },
    problems,
    error,
    isBusy,
    save: async () => {
      setBusy(true);
      try {
        await send();
        remember(storageKey, undefined);
      } catch (failure) {
        setError(failure);
      } finally {
        setBusy(false);
      }
    },
  };
}

function storageKeyOf(id: string): string {
  const { account_id = "", mode = "", operator } = currentSession.peek() ?? {};
  return `form:${account_id}:${mode}:${operator?.id ?? ""}:${id}`;
}

/** What was typed and not saved, if it differs from the saved values. */
function restore<Values extends object>(storageKey: string, saved: Values): Values | undefined {
  try {
    const stored = JSON.parse(recall(storageKey) ?? "null") as Partial<Values> | null;
    if (stored === null) return undefined;
    const values = { ...saved, ...stored };
    return JSON.stringify(values) === JSON.stringify(saved) ? undefined : values;
  } catch {
    return undefined;
  }
}
