import { Alert, Button, Group, TagsInput, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import { FormFrame } from '@/shared/forms/FormFrame';
import { Dialog } from '@/shared/ui/Dialog';
import { notifySuccess } from '@/shared/ui/undo';
import { runName } from '../list/columns';
import { describeRun, readRun, useRefreshRun } from '../queries';
import classes from './detail.module.css';

type Said = Pick<Run, 'name' | 'notes' | 'tags' | 'revision'>;

/** Changes name, tags and notes; what others changed meanwhile is shown beside what was typed. */
export function NotesDialog({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog opened onClose={onClose} title={t('runs.editTitle', { name: runName(run) })}>
      <NotesForm run={run} onClose={onClose} />
    </Dialog>
  );
}

function NotesForm({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  const refresh = useRefreshRun();
  // The description from when the dialog opened: the page goes on reading.
  const [base, setBase] = useState<Said>(run);
  const [theirs, setTheirs] = useState<Said | null>(null);
  const form = useForm({ initialValues: { name: run.name, tags: run.tags, notes: run.notes } });
  const send = async (values: typeof form.values) => {
    try {
      await describeRun(run.id, { ...values, expected_revision: base.revision });
    } catch (error) {
      if (asApiError(error).code !== 'run_changed') throw error;
      const now = await readRun(run.id);
      setTheirs(now);
      setBase(now);
      return;
    }
    notifySuccess(t('runs.saved'));
    refresh();
    onClose();
  };
  return (
    <FormFrame form={form} send={send} submit={t('runs.save')} onCancel={onClose}>
      {theirs && (
        <Theirs
          said={theirs}
          onTake={() => {
            form.setValues({ name: theirs.name, tags: theirs.tags, notes: theirs.notes });
            setTheirs(null);
          }}
        />
      )}
      <TextInput label={t('runs.name')} required maxLength={200} {...form.getInputProps('name')} />
      <TagsInput label={t('runs.tags')} description={t('runs.tagHint')} maxTags={30} {...form.getInputProps('tags')} />
      <Textarea label={t('runs.notes')} rows={10} maxLength={20_000} data-autofocus {...form.getInputProps('notes')} />
    </FormFrame>
  );
}

function Theirs({ said, onTake }: { said: Said; onTake: () => void }) {
  const { t } = useTranslation();
  return (
    <Alert color="orange" variant="light" title={t('runs.changed')} role="alert">
      <Text size="sm">{t('runs.changedHint')}</Text>
      <Text size="sm" fw={600} mt="xs">
        {t('runs.theirTags')}: {said.tags.join(', ') || t('common.none')}
      </Text>
      <Text size="sm" fw={600}>
        {t('runs.theirNotes')}
      </Text>
      <div className={classes.notes}>
        <Text size="sm">{said.notes || t('common.none')}</Text>
      </div>
      <Group mt="xs">
        <Button size="compact-sm" variant="default" onClick={onTake}>
          {t('runs.takeTheirs')}
        </Button>
      </Group>
    </Alert>
  );
}
