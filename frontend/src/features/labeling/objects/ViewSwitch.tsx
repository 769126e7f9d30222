import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { LabelTask } from '@/api/contract/labeling';
import { useStored } from '@/shared/ui/stored';
import { asksOnlyClasses, ontologyOfTask } from './ontology';

type View = 'grid' | 'picture';

/** The view of a task that asks only for classes: a grid, or one picture after another. Other tasks have no choice. */
export function useClassView(task: LabelTask): [View, (view: View) => void] {
  const [stored, setStored] = useStored(`atom-class-view/${task.id}`, 'grid');
  const isOffered = task.modality === 'image-objects' && asksOnlyClasses(ontologyOfTask(task));
  return [isOffered && stored === 'grid' ? 'grid' : 'picture', setStored];
}

/** Chooses between the grid and single pictures, where a task can be done in both. */
export function ViewSwitch({ task }: { task: LabelTask }) {
  const { t } = useTranslation();
  const [view, setView] = useClassView(task);
  if (task.modality !== 'image-objects' || !asksOnlyClasses(ontologyOfTask(task))) return null;
  return (
    <SegmentedControl
      size="xs"
      aria-label={t('labeling.work.view')}
      data={[
        { value: 'grid', label: t('labeling.work.viewGrid') },
        { value: 'picture', label: t('labeling.work.viewPicture') },
      ]}
      value={view}
      onChange={(value) => setView(value as View)}
    />
  );
}
