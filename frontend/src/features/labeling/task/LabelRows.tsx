import { ActionIcon, Button, ColorInput, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { Fragment, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { defaultHotkey } from '../labels';
import { newLabel, possibleParents, withoutLabel } from './ontologyDraft';
import type { TaskForm } from './taskForm';

/** After a class is added its name has the focus; after one is removed, the next one's button or the one that adds. */
function useRowFocus(count: number) {
  const group = useRef<HTMLDivElement>(null);
  const next = useRef<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows are there when their number has changed
  useEffect(() => {
    if (next.current === null) return;
    const target = group.current?.querySelector<HTMLElement>(next.current);
    (target ?? group.current?.querySelector<HTMLElement>('[data-fix]'))?.focus();
    next.current = null;
  }, [count]);
  return {
    group,
    added: (index: number) => {
      next.current = `[data-label-name="${index}"]`;
    },
    removed: (index: number) => {
      next.current = `[data-label-remove="${Math.min(index, count - 2)}"]`;
    },
  };
}

/** The classes of a new task. */
export function LabelRows({ form }: { form: TaskForm }) {
  const { t } = useTranslation();
  const { labels } = form.values;
  const [nests, setNested] = useState(false);
  const isNested = nests || labels.some(({ parent }) => parent !== null);
  const focus = useRowFocus(labels.length);
  const add = () => {
    const used = new Set(labels.map((label) => label.hotkey));
    const free = Array.from({ length: 10 }, (_, index) => defaultHotkey(index)).find((key) => !used.has(key)) ?? '';
    focus.added(labels.length);
    form.clearFieldError('labels');
    form.insertListItem('labels', newLabel(labels, { hotkey: free }));
  };
  const remove = (index: number) => {
    focus.removed(index);
    form.setFieldValue('labels', withoutLabel(labels, labels[index]?.id ?? -1));
  };
  return (
    <Stack
      gap={6}
      role="group"
      aria-label={t('labeling.classes')}
      ref={focus.group}
      data-wrong={Boolean(form.errors.labels)}
    >
      <div>
        <Text size="sm" fw={500}>
          {t('labeling.classes')}{' '}
          <Text span inherit c="var(--mantine-color-error)" aria-hidden>
            *
          </Text>
        </Text>
        <Text size="xs" c="dimmed">
          {t('labeling.create.labelsHint')}
        </Text>
      </div>
      {labels.map((label, index) => {
        const name = label.name.trim() || t('labeling.create.unnamed', { number: index + 1 });
        return (
          <Fragment key={label.id}>
            <Group gap="xs" wrap="nowrap" align="flex-start">
              <TextInput
                flex={1}
                aria-label={t('labeling.create.labelName', { number: index + 1 })}
                placeholder={t('common.name')}
                data-label-name={index}
                {...form.getInputProps(`labels.${index}.name`)}
              />
              <ColorInput
                w={130}
                aria-label={t('labeling.create.labelColor', { name })}
                format="hex"
                withEyeDropper={false}
                {...form.getInputProps(`labels.${index}.color`)}
              />
              <TextInput
                w={56}
                maxLength={1}
                aria-label={t('labeling.create.labelKey', { name })}
                styles={{ input: { textAlign: 'center' } }}
                {...form.getInputProps(`labels.${index}.hotkey`)}
              />
              <ActionIcon
                color="gray"
                size="lg"
                aria-label={t('labeling.create.removeLabel', { name })}
                data-label-remove={index}
                onClick={() => remove(index)}
              >
                <IconTrash size={16} />
              </ActionIcon>
            </Group>
            {isNested && (
              <Select
                size="xs"
                ml="md"
                clearable
                aria-label={t('labeling.create.parentOf', { name })}
                placeholder={t('labeling.ontology.parent')}
                data={possibleParents(label, labels)
                  .filter((one) => one.name.trim())
                  .map((one) => ({ value: String(one.id), label: one.name }))}
                value={label.parent === null ? null : String(label.parent)}
                onChange={(value) =>
                  form.setFieldValue(`labels.${index}.parent`, value === null ? null : Number(value))
                }
              />
            )}
          </Fragment>
        );
      })}
      {form.errors.labels && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert" id="labels-error">
          {form.errors.labels}
        </Text>
      )}
      <Group gap="xs">
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={add}
          data-fix
          aria-describedby={form.errors.labels ? 'labels-error' : undefined}
        >
          {t('labeling.create.addLabel')}
        </Button>
        {labels.length > 1 && !isNested && (
          <Button variant="subtle" onClick={() => setNested(true)}>
            {t('labeling.create.nest')}
          </Button>
        )}
      </Group>
    </Stack>
  );
}
