import type { JSX } from "preact";
import { useState } from "preact/hooks";
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
  TextField,
  toast,
} from "../../../shared/browser/index.ts";
import { conversationNow, patch } from "../state/conversations.ts";
import { thread } from "../state/thread.ts";
import { t } from "../texts.ts";
import { Section } from "./section.tsx";

interface DetailsProps {
  readonly contact: Contact;
  readonly onChange: (contact: Contact) => void;
}

/** The contact's data and attributes, to read and to edit. */
export function ContactDetails(props: DetailsProps): JSX.Element {
  const [isEditing, setEditing] = useState(false);
  const { contact } = props;
  if (isEditing) return <EditForm {...props} onDone={() => setEditing(false)} />;
  const facts = [
    [t("contactPhone"), contact.phone],
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
          <IconButton icon="edit" isSmall label={t("edit")} onClick={() => setEditing(true)} />
        )
      }
    >
      {known.length === 0 && <p class="muted">{t("contactUnknown")}</p>}
      <dl class="facts">
        {known.map(([name, value]) => (
          <div key={name} class="fact">
            <dt class="truncate">
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <bdi class="grow">{String(value)}</bdi>
              <CopyButton value={String(value)} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

const maxAttributes = 50;
const fields = ["name", "phone", "email", "language", "time_zone"] as const;

interface EditFormProps extends DetailsProps {
  readonly onDone: () => void;
}

function EditForm({ contact, onChange, onDone }: EditFormProps): JSX.Element {
  const [values, setValues] = useState(() =>
    Object.fromEntries(fields.map((field) => [field, contact[field] ?? ""])),
  );
  const [attributes, setAttributes] = useState<(readonly [string, string])[]>(() =>
    Object.entries(contact.attributes).map(([name, value]) => [name, value]),
  );
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [key] = useState(newKey);
  const labels = {
    name: t("contactName"),
    phone: t("contactPhone"),
    email: t("contactEmail"),
    language: t("contactLanguage"),
    time_zone: t("contactTimeZone"),
  };
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      const changes = fields
        .filter((field) => (contact[field] ?? "") !== values[field]?.trim())
        .map((field) => [field, values[field]?.trim() || null]);
      const named = attributes.filter(([name]) => name.trim() !== "");
      const saved = await api.patch<Contact>(
        `v1/contacts/${contact.id}`,
        { ...Object.fromEntries(changes), attributes: Object.fromEntries(named) },
        // Another try may have other values, and so needs another key.
        error === undefined ? { key } : {},
      );
      onChange(saved);
      rename(saved);
      toast({ message: t("saved") });
      onDone();
    } catch (caught) {
      setError(caught);
    } finally {
      setBusy(false);
    }
  };
  const problem = (field: string): string | undefined =>
    error instanceof ApiError ? error.field(`/${field}`) : undefined;
  const hasFieldProblem = fields.some((field) => problem(field) !== undefined);
  return (
    <Section title={t("details")}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {fields.map((field) => (
          <TextField
            key={field}
            label={labels[field]}
            maxLength={320}
            value={values[field] ?? ""}
            problem={problem(field)}
            onInput={({ currentTarget }) => setValues({ ...values, [field]: currentTarget.value })}
          />
        ))}
        <Attributes attributes={attributes} onChange={setAttributes} />
        {error !== undefined && !hasFieldProblem && (
          <p class="field-problem" role="alert">
            {explain(error)}
          </p>
        )}
        <div class="form-buttons">
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t("save")}
          </Button>
          <Button kind="quiet" onClick={onDone}>
            {t("cancelEdit")}
          </Button>
        </div>
      </form>
    </Section>
  );
}

/** The open conversation shows the name, too. */
function rename({ id, name, phone }: Contact): void {
  const open = thread.peek()?.id;
  const row = open === undefined ? undefined : conversationNow(open);
  if (row === undefined || row.contact.id !== id) return;
  patch(row.id, { contact: { ...row.contact, phone, name: name ?? phone ?? row.contact.name } });
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
            onInput={({ currentTarget }) => replace(index, [currentTarget.value, value])}
          />
          <TextField
            label={t("attributeValue")}
            isLabelHidden
            placeholder={t("attributeValue")}
            maxLength={500}
            value={value}
            onInput={({ currentTarget }) => replace(index, [name, currentTarget.value])}
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
