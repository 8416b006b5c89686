/** The slots of a playbook: what it asks for. */
import type { JSX } from "preact";
import type { Slot } from "../../../../../../../src/index.ts";
import { Checkbox, Select } from "../../../../../shared/browser/index.ts";
import { Section } from "../form/editor-form.tsx";
import { Input, Lines, List } from "../form/fields.tsx";
import type { Form } from "../form/form.ts";
import { e } from "../texts.ts";
import { newSlot, type PlaybookDraft, type SlotDraft } from "./playbook-draft.ts";

interface SlotSectionProps {
  readonly form: Form<PlaybookDraft>;
}

const slotTypes: { readonly [type in Slot["type"]]: () => string } = {
  text: () => e("slotText"),
  number: () => e("slotNumber"),
  boolean: () => e("slotBoolean"),
  date: () => e("slotDate"),
  phone: () => e("slotPhone"),
  email: () => e("slotEmail"),
};

const slotTypeNames = Object.keys(slotTypes) as readonly Slot["type"][];

export function SlotSection({ form: { values, set, problems } }: SlotSectionProps): JSX.Element {
  return (
    <Section title={e("sectionSlots")} about={e("sectionSlotsHint")}>
      <List
        items={values.slots}
        onChange={(slots) => set({ slots })}
        add={e("slotAdd")}
        item={e("slot")}
        empty={newSlot}
      >
        {(slot, change, index) => {
          const at = `/slots/${index}`;
          return (
            <>
              <div class="editor-row">
                <Input
                  of={slot}
                  name="name"
                  set={change}
                  label={e("name")}
                  isCode
                  problem={problems.of(`${at}/name`)}
                />
                <Select
                  label={e("slotType")}
                  value={slot.type}
                  options={slotTypeNames.map((type) => ({ value: type, label: slotTypes[type]() }))}
                  onChange={({ currentTarget }) => {
                    const type = slotTypeNames.find((each) => each === currentTarget.value);
                    if (type !== undefined) change({ type });
                  }}
                />
                <Input
                  of={slot}
                  name="prompt"
                  set={change}
                  label={e("slotPrompt")}
                  problem={problems.of(`${at}/prompt`)}
                />
              </div>
              {slot.type === "text" && <TextSlot {...{ slot, change, at, problems }} />}
              <Checkbox
                label={e("slotRequired")}
                checked={slot.required}
                onChange={({ currentTarget }) => change({ required: currentTarget.checked })}
              />
            </>
          );
        }}
      </List>
    </Section>
  );
}

interface TextSlotProps extends Pick<Form<PlaybookDraft>, "problems"> {
  readonly slot: SlotDraft;
  readonly change: (change: Partial<SlotDraft>) => void;
  readonly at: string;
}

/** The fields of a slot whose value is a text. */
const TextSlot = ({ slot, change, at, problems }: TextSlotProps): JSX.Element => (
  <div class="editor-row">
    <Lines
      of={slot}
      name="options"
      set={change}
      label={e("slotOptions")}
      rows={2}
      isOptional
      hint={e("slotOptionsHint")}
      problem={problems.in(`${at}/enum`)}
    />
    <Input
      of={slot}
      name="pattern"
      set={change}
      label={e("slotPattern")}
      isCode
      isOptional
      problem={problems.of(`${at}/pattern`)}
    />
  </div>
);
