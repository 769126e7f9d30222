import { Autocomplete, Button, Group, Radio, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Branch, EditStepRequest } from '@/api/contract/datasets';
import { Dialog } from '@/shared/ui/Dialog';
import { useEditPreview } from '../operationQueries';
import { useStats } from '../queries';
import type { AttributesOf } from './of';
import { Preview } from './Preview';

interface MarkDialogProps {
  name: string;
  branch: Branch;
  of: AttributesOf;
  op: 'label' | 'split';
  count: number;
  onClose: () => void;
  /** Told what will be done, in words and as an edit. */
  onMark: (message: string, step: EditStepRequest) => void;
}

const SPLITS = ['train', 'val', 'test', ''] as const;

/** Sets the label or the split of files, or takes it away; until a moment later it can be undone. */
export function MarkDialog({ op, ...props }: MarkDialogProps) {
  const { t } = useTranslation();
  return (
    <Dialog opened onClose={props.onClose} size="md" title={t(`versioning.${op}Title`, { branch: props.branch.name })}>
      <MarkForm op={op} {...props} />
    </Dialog>
  );
}

function MarkForm({ name, branch, of, op, count, onClose, onMark }: MarkDialogProps) {
  const { t } = useTranslation();
  const [value, setValue] = useState(op === 'split' ? 'train' : '');
  const step: EditStepRequest = { op, ...of, paths: [...of.paths], value: value.trim() };
  const [asked] = useDebouncedValue(step.value ?? '', 300);
  const preview = useEditPreview(name, branch.name, { ...step, value: asked });
  const labels = useStats(name, op === 'label' ? branch.name : undefined).data?.labels ?? {};
  const mark = (event: FormEvent) => {
    event.preventDefault();
    const said = step.value ? 'versioning.marking' : 'versioning.unmarking';
    onMark(t(said, { count, value: step.value, what: t(`versioning.${op}`) }), step);
    onClose();
  };
  return (
    <form onSubmit={mark}>
      <Stack>
        <Text size="sm">{t('versioning.selected', { count })}</Text>
        {op === 'label' ? (
          <Autocomplete
            label={t('versioning.label')}
            description={t('versioning.labelHint')}
            data={Object.keys(labels).sort()}
            value={value}
            onChange={setValue}
            maxLength={255}
            limit={50}
            data-autofocus
            autoComplete="off"
          />
        ) : (
          <Radio.Group
            label={t('versioning.split')}
            description={t('versioning.splitHint')}
            value={value}
            onChange={setValue}
          >
            <Group mt="xs">
              {SPLITS.map((one) => (
                <Radio key={one} value={one} label={one || t('versioning.noSplit')} />
              ))}
            </Group>
          </Radio.Group>
        )}
        <Preview preview={preview} contained={t('versioning.nothing')} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" disabled={Boolean(preview.error)}>
            {step.value ? t('versioning.mark') : t('versioning.unmark')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
