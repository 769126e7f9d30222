import { TagsInput, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ListedRun } from '@/api/contract/jobs';
import { useProject } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { tagRuns, useRefreshLists } from './listQueries';

/** Adds tags to runs and takes others away; what others tag meanwhile stays. */
export function TagDialog({ runs, onClose }: { runs: ListedRun[]; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog opened onClose={onClose} title={t('runs.tagTitle', { count: runs.length })} size="md">
      <TagForm runs={runs} onClose={onClose} />
    </Dialog>
  );
}

function TagForm({ runs, onClose }: { runs: ListedRun[]; onClose: () => void }) {
  const { t } = useTranslation();
  const project = useProject();
  const refresh = useRefreshLists();
  const form = useForm({
    initialValues: { add: [] as string[], remove: [] as string[] },
    validate: { add: (add, { remove }) => (add.length + remove.length === 0 ? t('runs.tagNeeded') : null) },
  });
  const present = [...new Set(runs.flatMap(({ tags }) => tags))].sort();
  const send = async ({ add, remove }: typeof form.values) => {
    const ids = runs.map(({ id }) => id);
    const { changed } = await tagRuns(project, ids, add, remove);
    notifySuccess(t('runs.tagged', { count: changed.length }));
    refresh();
    onClose();
  };
  return (
    <FormFrame form={form} send={send} submit={t('runs.save')} onCancel={onClose}>
      <TagsInput
        label={t('runs.addTags')}
        description={t('runs.tagHint')}
        maxTags={30}
        data={present}
        data-autofocus
        {...form.getInputProps('add')}
      />
      {present.length > 0 && (
        <TagsInput label={t('runs.removeTags')} data={present} maxTags={30} {...form.getInputProps('remove')} />
      )}
      {present.length === 0 && (
        <Text size="xs" c="dimmed">
          {t('common.none')}
        </Text>
      )}
    </FormFrame>
  );
}
