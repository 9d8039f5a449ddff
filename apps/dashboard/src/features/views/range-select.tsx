import { NativeSelect } from "@mantine/core";
import { strings } from "../../shared/strings.ts";
import { RANGES, type Range } from "./view-series.ts";

const text = strings.viewers.views;

interface Props {
  readonly range: Range;
  readonly onRange: (range: Range) => void;
}

export function RangeSelect({ range, onRange }: Props) {
  return (
    <NativeSelect
      aria-label={text.range}
      value={range}
      data={(Object.keys(RANGES) as Range[]).map((value) => ({ value, label: text.ranges[value] }))}
      onChange={(event) => onRange(event.currentTarget.value as Range)}
    />
  );
}
