/** An error in a field of a form. */
export interface Problem {
  field: string;
  title: string;
  /** The line with the place underlined; empty if there is no place. */
  drawing: string;
  help: string | null;
}

export interface ExplainedField {
  /** `63:61`, or one number for a single bit. */
  bits: string;
  name: string;
  raw: string;
  meaning: string;
  purpose: string;
}

export interface ControlCode {
  slot: string;
  cuassembler: string;
  maxas: string;
  nvidia: string;
  fields: ExplainedField[];
}

export interface Explained {
  word: string;
  text: string;
  sm: string;
  fields: ExplainedField[];
  remarks: string[];
  effect: string;
  control: ControlCode | null;
}

/** Fields are text, as typed; missing fields are empty. */
export interface DecodeFields {
  sm: string;
  input: string;
}

export interface Decoded {
  instructions: number;
  count: number;
  loads: DecodedLoad[];
  problems: Problem[];
}

export interface DecodedLoad {
  function: string | null;
  offset: string | null;
  load: Explained;
}

export interface EncodeFields {
  sm: string;
  text?: string;
  word?: string;
  control?: string;
  /** The field to change, by its bits: `63:61`. */
  bits?: string;
  value?: string;
}

export interface Encoded {
  load: Explained;
  fields: EditableField[];
  control: EditableField[];
  remarks: string[];
  problems: Problem[];
}

export interface EditableField {
  bits: string;
  name: string;
  raw: string;
  meaning: string;
  purpose: string;
  max: string;
  choices: Choice[];
  is_fixed: boolean;
}

export interface Choice {
  value: string;
  meaning: string;
  is_legal: boolean;
}

export interface RunFields {
  sm: string;
  instruction: string;
  base: string;
  values?: string;
  mask?: string;
}

export interface Run {
  load: Explained;
  base: string;
  addresses: string[];
  registers: Register[];
  faults: string[];
  access: Access | null;
  problems: Problem[];
}

export interface Register {
  name: string;
  values: string[];
}

export interface BanksFields {
  access: string;
  bytes: string;
  space: string;
  element?: string;
  values?: string;
  range?: string;
  mask?: string;
  matrices?: string;
  merge?: string;
}

export interface Access {
  result: string;
  values: Chart[];
  addresses: string[];
  rows: AccessRow[];
  text: string;
  svg: string;
  remarks: string[];
  problems: Problem[];
}

export interface AccessRow {
  label: string;
  group?: [number, number];
  is_conflict: boolean;
  /** The lanes that each of 32 columns serves, one list for each column. */
  cells: number[][];
}

export interface Chart {
  value: number;
  amount: number;
  result: string;
}

export interface TensorFields {
  shape?: string;
  repeat?: string;
  pack?: string;
  instruction?: string;
  sm?: string;
}

export interface Tensor {
  text: string;
  svg: string;
  problems: Problem[];
}

export interface PtxFields {
  source: string;
  part?: string;
}

export interface PtxVerdicts {
  legal: number;
  illegal: number;
  verdicts: Verdict[];
  problems: Problem[];
}

export interface Verdict {
  line: number;
  column: number;
  text: string;
  accept: boolean;
  violations: Rule[];
}

export interface Rule {
  rule: string;
  error: string;
  help: string | null;
  /** In UTF-16 code units of the source, the unit of JavaScript's string indices. */
  start: number;
  end: number;
  drawing: string;
}
