/** The slots of a playbook: what it asks for. */
import type { JSX } from "preact";
import type { Slot } from "../../../../../../../src/index.ts";
import { Checkbox, Select, TextArea, TextField } from "../../../../../shared/browser/index.ts";
import { withCode } from "../../../parts/values.tsx";
import { Section } from "../form/editor-form.tsx";
import { code, List } from "../form/fields.tsx";
import { bind, type Form } from "../form/form.ts";
import { e } from "../texts.ts";
import { newSlot, type PlaybookDraft } from "./playbook-draft.ts";

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
    <Section title={e("sectionSlots")} about={withCode(e("sectionSlotsHint"))}>
      <List
        items={values.slots}
        onChange={(slots) => set({ slots })}
        add={e("slotAdd")}
        item={e("slot")}
        empty={newSlot}
      >
        {(slot, change, index) => {
          const own = bind(slot, change, problems, `/slots/${index}`);
          return (
            <>
              <div class="editor-row">
                <TextField {...own("name")} {...code} label={e("name")} />
                <Select
                  label={e("slotType")}
                  value={slot.type}
                  options={slotTypeNames.map((type) => ({ value: type, label: slotTypes[type]() }))}
                  onChange={(type) => change({ type })}
                />
                <TextField {...own("prompt")} label={e("slotPrompt")} />
              </div>
              {slot.type === "text" && (
                <div class="editor-row">
                  <TextArea
                    {...own("options", "enum")}
                    label={e("slotOptions")}
                    rows={2}
                    isOptional
                    hint={e("slotOptionsHint")}
                  />
                  <TextField {...own("pattern")} {...code} label={e("slotPattern")} isOptional />
                </div>
              )}
              <Checkbox
                label={e("slotRequired")}
                checked={slot.required}
                onChange={(required) => change({ required })}
              />
            </>
          );
        }}
      </List>
    </Section>
  );
}
