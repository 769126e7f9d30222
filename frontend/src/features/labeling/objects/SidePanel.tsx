import { Button, Divider, Text } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { whenReachable } from '@/shared/live/connection';
import { objectsOf } from '../canvas/model';
import type { Editing } from './editing';
import { LabelsPanel } from './LabelsPanel';
import { ObjectList } from './ObjectList';
import classes from './objects.module.css';
import { PicturePanel } from './PicturePanel';
import { SelectionPanel } from './SelectionPanel';
import type { Ontology, OntologyLabel } from './types';

const Guideline = lazy(whenReachable(() => import('./Guideline')));

interface SidePanelProps {
  /** Fields of another picture begin with its values. */
  picture: string;
  editing: Editing;
  ontology: Ontology;
  activeLabel: number | null;
  showMissing: boolean;
  withIssue: ReadonlySet<string>;
  guideline: string;
  /** Shown first: what an auditor wrote, or is writing. */
  children?: ReactNode;
  onLabel: (label: OntologyLabel) => void;
}

/** Beside the picture: labels, objects, the selection, the whole picture and the guideline. */
export function SidePanel(props: SidePanelProps) {
  const { picture, editing, ontology, activeLabel, showMissing, withIssue, guideline, children, onLabel } = props;
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const counts = new Map<number, number>();
  for (const { label } of objectsOf(editing.document)) counts.set(label, (counts.get(label) ?? 0) + 1);
  const labels = new Map(ontology.labels.map((label) => [label.id, label]));
  return (
    <aside className={classes.side} aria-label={t('labeling.classes')} data-open={isOpen || undefined}>
      <Button
        className={classes.sheet}
        fullWidth
        variant="default"
        aria-expanded={isOpen}
        rightSection={isOpen ? <IconChevronDown size={16} /> : <IconChevronUp size={16} />}
        onClick={() => setOpen(!isOpen)}
      >
        {t('labeling.objects.panels')}
      </Button>
      {children}
      {!editing.readOnly && (
        <>
          <LabelsPanel labels={ontology.labels} active={activeLabel} counts={counts} onLabel={onLabel} />
          <Divider my="sm" />
        </>
      )}
      <ObjectList key={`objects ${picture}`} editing={editing} labels={labels} withIssue={withIssue} />
      {editing.selected.length > 0 && <Divider my="sm" />}
      <SelectionPanel key={`selection ${picture}`} editing={editing} ontology={ontology} showMissing={showMissing} />
      <PicturePanel key={`picture ${picture}`} editing={editing} ontology={ontology} showMissing={showMissing} />
      {guideline && (
        <section aria-label={t('labeling.guideline')}>
          <Divider my="sm" />
          <Text size="xs" c="dimmed" fw={600} mb={4}>
            {t('labeling.guideline')}
          </Text>
          <Suspense>
            <Guideline text={guideline} />
          </Suspense>
        </section>
      )}
    </aside>
  );
}
