import { useState } from 'react';
import type { ToolName } from '../canvas/tools/tool';
import { toolOfCommand } from './commands';
import type { Editing } from './editing';
import type { CommandName } from './keymap';
import { kindsOfLabel } from './ontology';
import { toolForKinds, WITHOUT_DRAWING } from './tools';
import type { Ontology, OntologyLabel } from './types';

/** The label and the tool with which the next object is drawn. */
export interface Drawing {
  label: number | null;
  tool: ToolName;
  /** The kind of relation that is drawn; null takes the first that fits. */
  relation: number | null;
  setRelation: (relation: number | null) => void;
  setTool: (tool: ToolName) => void;
  onLabel: (label: OntologyLabel) => void;
  onCommand: (command: CommandName) => void;
}

/** The next picture is drawn on as this one was. */
const last: { label: number | null; tool: ToolName; relation: number | null; of: string } = {
  label: null,
  tool: 'select',
  relation: null,
  of: '',
};

export function useDrawing(ontology: Ontology, editing: Editing): Drawing {
  const drawable = ontology.labels.filter((label) => kindsOfLabel(label).length > 0);
  const of = drawable.map(({ id, name }) => `${id} ${name}`).join();
  const [first] = drawable;
  const [label, setLabel] = useState(() => (last.of === of ? last.label : (first?.id ?? null)));
  const [tool, setTool] = useState<ToolName>(() =>
    last.of === of ? last.tool : first ? toolForKinds(kindsOfLabel(first), 'box') : 'select',
  );
  const kinds = ontology.schema?.relations ?? [];
  const [chosen, setChosen] = useState(last.relation);
  // Another task has other kinds.
  const relation = kinds.some(({ id }) => id === chosen) ? chosen : null;
  const setRelation = (next: number | null) => {
    last.relation = next;
    setChosen(next);
  };
  const remember = (nextLabel: number | null, nextTool: ToolName) => {
    Object.assign(last, { label: nextLabel, tool: nextTool, of });
    setLabel(nextLabel);
    setTool(nextTool);
  };
  const onLabel = (chosen: OntologyLabel) => {
    const kinds = kindsOfLabel(chosen);
    if (kinds.length === 0) {
      editing.do({ type: 'setPictureLabels', labels: [chosen.id] });
      return;
    }
    // With something selected the label is meant for it, and the next object has it, too.
    if (editing.selected.length > 0) editing.do({ type: 'setLabel', ids: editing.selected, label: chosen.id });
    const isDrawing = !WITHOUT_DRAWING.has(tool);
    remember(chosen.id, isDrawing || editing.selected.length === 0 ? toolForKinds(kinds, tool) : tool);
  };
  const onCommand = (command: CommandName) => {
    const next = toolOfCommand(command);
    if (next) remember(label, next);
  };
  return { label, tool, relation, setRelation, setTool: (next) => remember(label, next), onLabel, onCommand };
}
