import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Contact } from "../../../../../src/index.ts";
import {
  api,
  ApiError,
  Button,
  explain,
  IconButton,
  newKey,
  TextField,
  toast,
} from "../../../shared/browser/index.ts";
import { nameSoon } from "../state/conversations.ts";
import { contactEdits, contactFields, type ContactEdit } from "../state/drafts.ts";
import { t } from "../texts.ts";
import { Section } from "./section.tsx";

const maxAttributes = 50;
const pointers: ReadonlySet<string> = new Set(contactFields.map((field) => `/${field}`));

interface ContactFormProps {
  readonly contact: Contact;
  readonly onChange: (contact: Contact) => void;
  readonly edit: ContactEdit;
  /** Whether the person has just begun it. */
  readonly isNew: boolean;
}

/** The form of a contact's data and attributes. */
export function ContactForm({ contact, onChange, edit, isNew }: ContactFormProps): JSX.Element {
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
      nameSoon(saved);
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
