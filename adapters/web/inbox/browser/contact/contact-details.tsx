import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import {
  api,
  ApiError,
  Button,
  CopyButton,
  explain,
  IconButton,
  may,
  newKey,
  shownAddress,
  TextField,
  toast,
} from "../../../shared/browser/index.ts";
import { conversationNow, conversations } from "../state/conversations.ts";
import { type ContactEdit, contactEdits, contactFields } from "../state/drafts.ts";
import { thread } from "../state/thread.ts";
import { t } from "../texts.ts";
import { ContactLabels } from "./contact-labels.tsx";
import { Section } from "./section.tsx";

interface FormProps {
  readonly contact: Contact;
  readonly onChange: (contact: Contact) => void;
}

interface DetailsProps extends FormProps {
  /** The key that opens the picker of its labels. */
  readonly labelShortcut: string;
}

/** The contact's data and attributes, to read and to edit. */
export function ContactDetails({ contact, onChange, labelShortcut }: DetailsProps): JSX.Element {
  const edit = contactEdits.of(contact.id).value;
  const button = useRef<HTMLButtonElement>(null);
  const isEdited = edit !== null && may("contacts:write");
  const wasEdited = useRef(isEdited);
  useLayoutEffect(() => {
    // The form and its button are gone, and the focus with them.
    const isLost = document.activeElement === document.body;
    if (wasEdited.current && !isEdited && isLost) button.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  // An edit of an earlier visit does not take the focus.
  if (isEdited) {
    const isNew = !wasEdited.current;
    return <EditForm contact={contact} onChange={onChange} edit={edit} isNew={isNew} />;
  }
  const facts = [
    [t("contactPhone"), contact.phone && shownAddress(contact.phone)],
    [t("contactEmail"), contact.email],
    [t("contactLanguage"), contact.language],
    [t("contactTimeZone"), contact.time_zone],
    ...Object.entries(contact.attributes),
  ] as const;
  const known = facts.filter(([, value]) => value !== null && value !== "");
  return (
    <Section
      title={t("details")}
      action={
        may("contacts:write") && (
          <IconButton
            icon="edit"
            isSmall
            buttonRef={button}
            label={t("edit")}
            onClick={() => contactEdits.set(contact.id, { fields: {} })}
          />
        )
      }
    >
      {known.length === 0 && contact.labels.length === 0 && (
        <p class="muted">{t("contactUnknown")}</p>
      )}
      <dl class="facts">
        <ContactLabels contact={contact} shortcut={labelShortcut} onChange={onChange} />
        {known.map(([name, value]) => (
          <div key={name} class="fact">
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <bdi class="grow">
                <Breakable>{String(value)}</Breakable>
              </bdi>
              <CopyButton value={String(value)} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** Breaks an email address before its domain, rather than within a word. */
function Breakable({ children }: { readonly children: string }): JSX.Element {
  const [start, ...rest] = children.split("@");
  return rest.length !== 1 ? (
    <>{children}</>
  ) : (
    <>
      {start}
      <wbr />@{rest}
    </>
  );
}

const maxAttributes = 50;
const pointers: ReadonlySet<string> = new Set(contactFields.map((field) => `/${field}`));

interface EditFormProps extends FormProps {
  readonly edit: ContactEdit;
  /** Whether the person has just begun it. */
  readonly isNew: boolean;
}

function EditForm({ contact, onChange, edit, isNew }: EditFormProps): JSX.Element {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  // The same values have the same key, so that a repetition saves once.
  const key = useMemo(newKey, [JSON.stringify(edit)]);
  const { id } = contact;
  const attributes = edit.attributes ?? Object.entries(contact.attributes);
  const labels = {
    name: t("contactName"),
    phone: t("contactPhone"),
    email: t("contactEmail"),
    language: t("contactLanguage"),
    time_zone: t("contactTimeZone"),
  };
  const type = (field: (typeof contactFields)[number], text: string): void => {
    const { [field]: _, ...others } = edit.fields;
    const isNew = text !== (contact[field] ?? "");
    contactEdits.set(id, { ...edit, fields: isNew ? { ...others, [field]: text } : others });
  };
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const changes = Object.entries(edit.fields).map(([field, text]) => [
        field,
        text.trim() || null,
      ]);
      const named = edit.attributes?.filter(([name]) => name.trim() !== "");
      const saved = await api.patch<Contact>(
        `v1/contacts/${id}`,
        { ...Object.fromEntries(changes), ...(named && { attributes: Object.fromEntries(named) }) },
        { key },
      );
      setError(undefined);
      contactEdits.set(id, typedSince(edit, contactEdits.of(id).peek(), contact));
      onChange(saved);
      rename(saved);
      toast({ message: t("saved") });
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  useLayoutEffect(() => {
    if (isNew) form.current?.querySelector("input")?.focus();
  }, []);
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [error]);
  const problem = (field: string): string | undefined =>
    error instanceof ApiError ? error.field(`/${field}`) : undefined;
  const isShownAtFields = error instanceof ApiError && error.isOnlyAbout(pointers);
  return (
    <Section title={t("details")}>
      <form
        ref={form}
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {contactFields.map((field) => (
          <TextField
            key={field}
            label={labels[field]}
            maxLength={320}
            // The browser knows the operator's own data, not the contact's.
            autocomplete="off"
            inputMode={field === "phone" ? "tel" : field === "email" ? "email" : "text"}
            value={edit.fields[field] ?? contact[field] ?? ""}
            problem={problem(field)}
            onChange={(text) => type(field, text)}
          />
        ))}
        <Attributes
          attributes={attributes}
          onChange={(next) => contactEdits.set(id, { ...edit, attributes: next })}
        />
        {error !== undefined && !isShownAtFields && (
          <p class="field-problem" role="alert">
            {explain(error)}
          </p>
        )}
        <div class="form-buttons">
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t("save")}
          </Button>
          <Button kind="quiet" onClick={() => contactEdits.set(id, null)}>
            {t("cancelEdit")}
          </Button>
        </div>
      </form>
    </Section>
  );
}

/**
 * What a person has typed while an edit was saved. Null if nothing. `before` is the contact without
 * the edit.
 */
function typedSince(
  sent: ContactEdit,
  now: ContactEdit | null,
  before: Contact,
): ContactEdit | null {
  if (now === null) return null;
  const { fields, attributes } = now;
  // A field that is no longer edited has its earlier text again.
  const textIn = (edit: ContactEdit["fields"], field: (typeof contactFields)[number]): string =>
    edit[field] ?? before[field] ?? "";
  const typed = contactFields.filter(
    (field) => textIn(fields, field) !== textIn(sent.fields, field),
  );
  const isSameList = JSON.stringify(attributes) === JSON.stringify(sent.attributes);
  if (typed.length === 0 && isSameList) return null;
  return {
    fields: Object.fromEntries(typed.map((field) => [field, textIn(fields, field)])),
    ...(!isSameList && attributes && { attributes }),
  };
}

/** The open conversation shows the name, too. */
function rename({ id, name, phone }: Contact): void {
  const open = thread.peek()?.id;
  const row = open === undefined ? undefined : conversationNow(open);
  if (row === undefined || row.contact.id !== id) return;
  conversations.patch(row.id, {
    contact: { ...row.contact, phone, name: name ?? phone ?? row.contact.name },
  });
}

interface AttributesProps {
  readonly attributes: readonly (readonly [string, string])[];
  readonly onChange: (attributes: (readonly [string, string])[]) => void;
}

function Attributes({ attributes, onChange }: AttributesProps): JSX.Element {
  const replace = (index: number, entry: readonly [string, string]): void =>
    onChange(attributes.map((each, at) => (at === index ? entry : each)));
  return (
    <fieldset class="attributes">
      <legend class="field-label">{t("attributes")}</legend>
      {attributes.map(([name, value], index) => (
        <div key={index} class="attribute">
          <TextField
            label={t("attributeKey")}
            isLabelHidden
            placeholder={t("attributeKey")}
            maxLength={64}
            value={name}
            onChange={(typed) => replace(index, [typed, value])}
          />
          <TextField
            label={t("attributeValue")}
            isLabelHidden
            placeholder={t("attributeValue")}
            maxLength={500}
            value={value}
            onChange={(typed) => replace(index, [name, typed])}
          />
          <IconButton
            icon="close"
            isSmall
            label={t("attributeRemove", { name })}
            onClick={() => onChange(attributes.filter((_, at) => at !== index))}
          />
        </div>
      ))}
      <Button
        isSmall
        icon="plus"
        disabled={attributes.length >= maxAttributes}
        onClick={() => onChange([...attributes, ["", ""]])}
      >
        {t("attributeAdd")}
      </Button>
    </fieldset>
  );
}
