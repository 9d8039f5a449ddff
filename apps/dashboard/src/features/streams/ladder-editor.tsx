import { ActionIcon, Button, NativeSelect, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { strings } from "../../shared/strings.ts";
import {
  isValid,
  type Ladder,
  MAX_RUNGS,
  PRESETS,
  type Preset,
  problemsOf,
  profilesOf,
  type Rung,
  type RungField,
  type RungProblems,
  withNewRung,
  withoutRung,
  withPreset,
  withRung,
} from "./ladder.ts";
import classes from "./ladder-editor.module.css";
import { LadderFigures } from "./ladder-figures.tsx";

const text = strings.streams.ladder;

interface Props {
  readonly ladder: Ladder;
  readonly onLadder: (ladder: Ladder) => void;
}

/** The qualities that viewers get besides the source: a preset, or custom rungs. */
export function LadderEditor({ ladder, onLadder }: Props) {
  return (
    <div className={classes.editor}>
      <NativeSelect
        label={text.title}
        description={text.hint}
        value={ladder.preset}
        data={PRESETS.map((value) => ({ value, label: text.presets[value] }))}
        onChange={(event) => onLadder(withPreset(ladder, event.currentTarget.value as Preset))}
      />
      {ladder.preset === "custom" ? (
        <Rungs ladder={ladder} onLadder={onLadder} />
      ) : (
        <LadderFigures profiles={profilesOf(ladder)} />
      )}
    </div>
  );
}

function Rungs({ ladder, onLadder }: Props) {
  const problems = problemsOf(ladder);
  return (
    <>
      <ul className={classes.rungs}>
        {ladder.rungs.map((rung, i) => (
          <li key={rung.key}>
            <fieldset className={classes.rung}>
              <legend>{text.rung(i + 1)}</legend>
              <RungInputs
                rung={rung}
                problems={problems[i] ?? {}}
                onChange={(change) => onLadder(withRung(ladder, rung.key, change))}
              />
              <ActionIcon
                className={classes.remove ?? ""}
                variant="subtle"
                color="gray"
                size="lg"
                aria-label={text.remove(rung.name || text.rung(i + 1))}
                title={text.remove(rung.name || text.rung(i + 1))}
                onClick={() => onLadder(withoutRung(ladder, rung.key))}
              >
                <IconTrash size={18} aria-hidden />
              </ActionIcon>
            </fieldset>
          </li>
        ))}
      </ul>
      <div className={classes.foot}>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={14} aria-hidden />}
          disabled={ladder.rungs.length >= MAX_RUNGS}
          onClick={() => onLadder(withNewRung(ladder))}
        >
          {text.add}
        </Button>
        {!isValid(ladder) && <span className="quiet">{text.incomplete}</span>}
      </div>
    </>
  );
}

const FIELDS = ["name", "width", "height", "bitrate", "fps"] as const satisfies readonly RungField[];

interface RungProps {
  readonly rung: Rung;
  readonly problems: RungProblems;
  readonly onChange: (change: Partial<Record<RungField, string>>) => void;
}

function RungInputs({ rung, problems, onChange }: RungProps) {
  return FIELDS.map((field) => {
    const problem = problems[field];
    return (
      <TextInput
        key={field}
        size="xs"
        label={text.fields[field]}
        // An empty field is not wrong yet; the line below the rungs says what is missing.
        error={problem !== undefined && rung[field].trim() !== "" && text.problems[problem]}
        inputMode={field === "name" || field === "fps" ? "text" : "decimal"}
        value={rung[field]}
        onChange={(event) => onChange({ [field]: event.currentTarget.value })}
      />
    );
  });
}
