import { Kbd, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import tiles from '../tiles.module.css';
import classes from './objects.module.css';
import { kindsOfLabel, labelTree } from './ontology';
import type { OntologyLabel } from './types';

/** As many rows as are drawn at once; more are searched for. */
const SHOWN = 200;
/** So few labels are seen at once. */
const WITHOUT_SEARCH = 12;

interface LabelsPanelProps {
  labels: readonly OntologyLabel[];
  active: number | null;
  counts: ReadonlyMap<number, number>;
  onLabel: (label: OntologyLabel) => void;
}

/** The labels that objects can have, as a tree; a press gives it to the selection, or to what is drawn next. */
export function LabelsPanel({ labels, active, counts, onLabel }: LabelsPanelProps) {
  const { t } = useTranslation();
  const [query, setQuery] = useState('');
  const drawn = labels.filter((label) => kindsOfLabel(label).length > 0);
  const rows = labelTree(drawn, query);
  return (
    <section aria-label={t('labeling.objects.labels')}>
      <Text size="xs" c="dimmed" fw={600} mb={4}>
        {t('labeling.objects.labels')}
      </Text>
      {drawn.length > WITHOUT_SEARCH && (
        <TextInput
          size="xs"
          mb={6}
          type="search"
          aria-label={t('labeling.objects.searchLabels')}
          placeholder={t('labeling.objects.searchLabels')}
          value={query}
          onChange={(event) => setQuery(event.currentTarget.value)}
        />
      )}
      <div className={classes.labels}>
        {rows.slice(0, SHOWN).map(({ label, depth }) => (
          <UnstyledButton
            key={label.id}
            className={tiles.labelRow}
            data-held={active === label.id || undefined}
            aria-pressed={active === label.id}
            style={{ paddingLeft: 8 + depth * 14 }}
            // The focus stays with the picture.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onLabel(label)}
          >
            <span className={tiles.swatch} style={{ background: label.color }} aria-hidden />
            <span style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}>{label.name}</span>
            <Text span size="xs" c="dimmed" className="tabular">
              {counts.get(label.id) ?? ''}
            </Text>
            {label.hotkey && <Kbd size="xs">{label.hotkey}</Kbd>}
          </UnstyledButton>
        ))}
      </div>
      {rows.length > SHOWN && (
        <Text size="xs" c="dimmed">
          {t('labeling.objects.moreLabels', { count: rows.length - SHOWN })}
        </Text>
      )}
      {rows.length === 0 && (
        <Text size="xs" c="dimmed" role="status">
          {t('labeling.objects.noLabel')}
        </Text>
      )}
    </section>
  );
}
