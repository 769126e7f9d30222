import { Select, Stack, Switch, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AttributeFields } from './AttributeFields';
import { type Editing, selectedObjects } from './editing';
import { LateText } from './LateText';
import { attributesOf, toolsOf } from './ontology';
import { RelationList } from './RelationList';
import type { Attributes, Ontology } from './types';

interface SelectionPanelProps {
  editing: Editing;
  ontology: Ontology;
  showMissing: boolean;
}

const NO_VALUES: Attributes = {};

/** The label, the attributes and the flags of what is selected. */
export function SelectionPanel({ editing, ontology, showMissing }: SelectionPanelProps) {
  const { t } = useTranslation();
  const chosen = selectedObjects(editing);
  const [first] = chosen;
  if (!first) return null;
  const ids = chosen.map(({ id }) => id);
  const kinds = new Set(chosen.map(({ kind }) => kind));
  const possible = ontology.labels.filter((label) => [...kinds].every((kind) => toolsOf(label).includes(kind)));
  const sameLabel = chosen.every(({ label }) => label === first.label);
  return (
    <section aria-label={t('labeling.objects.attributes')}>
      <Text size="xs" c="dimmed" fw={600} mb={4} aria-live="polite">
        {t('labeling.objects.chosen', { count: chosen.length })}
      </Text>
      <Stack gap={6}>
        <Select
          size="xs"
          label={t('labeling.objects.labelOf')}
          allowDeselect={false}
          searchable={possible.length > 8}
          disabled={editing.readOnly}
          data={possible.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={sameLabel ? String(first.label) : null}
          onChange={(label) => label !== null && editing.do({ type: 'setLabel', ids, label: Number(label) })}
        />
        {sameLabel && (
          <AttributeFields
            attributes={attributesOf(first.label, ontology.labels)}
            values={first.attributes ?? NO_VALUES}
            showMissing={showMissing}
            disabled={editing.readOnly}
            onChange={(attribute, value) => editing.do({ type: 'setAttribute', ids, attribute, value: value ?? null })}
          />
        )}
        {chosen.length === 1 && (
          <LateText
            key={first.id}
            size="xs"
            label={t('labeling.objects.text')}
            disabled={editing.readOnly}
            value={first.text ?? ''}
            onCommit={(text) => editing.do({ type: 'setText', ids, text })}
          />
        )}
        {chosen.length === 1 && <RelationList object={first.id} editing={editing} ontology={ontology} />}
        <Switch
          size="xs"
          label={t('labeling.objects.ignoreRegion')}
          disabled={editing.readOnly}
          checked={chosen.every(({ ignore }) => ignore)}
          onChange={(event) => editing.do({ type: 'setIgnore', ids, ignore: event.currentTarget.checked })}
        />
      </Stack>
    </section>
  );
}
