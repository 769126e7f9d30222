import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './objects.module.css';
import type { Ontology } from './types';

interface RelationSelectProps {
  ontology: Ontology;
  value: number | null;
  onChange: (relation: number | null) => void;
}

/** The kind that the relation tool draws, where the ontology has several. */
export function RelationSelect({ ontology, value, onChange }: RelationSelectProps) {
  const { t } = useTranslation();
  const kinds = ontology.schema?.relations ?? [];
  if (kinds.length < 2) return null;
  return (
    <Select
      className={classes.relation}
      size="xs"
      clearable
      aria-label={t('labeling.objects.relationKind')}
      placeholder={t('labeling.objects.relationAny')}
      data={kinds.map(({ id, name }) => ({ value: String(id), label: name }))}
      value={value === null ? null : String(value)}
      onChange={(id) => onChange(id === null ? null : Number(id))}
    />
  );
}
