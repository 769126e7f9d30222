import { Checkbox, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { CreatedWebhook } from '@/api/contract/webhooks';
import { FormFrame } from '@/shared/forms/FormFrame';
import { EVENT_KINDS, type EventKind } from './kinds';
import { useWebhookActions } from './queries';

interface Props {
  onCreated: (created: CreatedWebhook) => void;
  onCancel: () => void;
}

export function NewWebhookForm({ onCreated, onCancel }: Props) {
  const { t } = useTranslation();
  const { create } = useWebhookActions();
  const form = useForm<{ name: string; url: string; events: EventKind[] }>({
    initialValues: { name: '', url: '', events: ['run.succeeded', 'run.failed'] },
    validate: {
      name: (value) => (value.trim() ? null : t('settings.required')),
      url: (value) => (/^https?:\/\/./.test(value.trim()) ? null : t('webhooks.urlWrong')),
      events: (value) => (value.length > 0 ? null : t('webhooks.eventsWrong')),
    },
  });
  const send = async ({ name, url, events }: typeof form.values) =>
    onCreated(await create({ name: name.trim(), url: url.trim(), events }));
  return (
    <FormFrame form={form} send={send} submit={t('webhooks.create')} onCancel={onCancel}>
      <TextInput
        label={t('webhooks.name')}
        autoComplete="off"
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('webhooks.url')}
        description={t('webhooks.urlHint')}
        placeholder="https://ci.example.com/atom"
        autoComplete="off"
        inputMode="url"
        {...form.getInputProps('url')}
      />
      <Checkbox.Group label={t('webhooks.events')} {...form.getInputProps('events')}>
        <Stack gap={6} mt={6}>
          {EVENT_KINDS.map((kind) => (
            <Checkbox key={kind} value={kind} label={t(`webhooks.kind.${kind.replace('.', '_') as Flat}`)} />
          ))}
        </Stack>
      </Checkbox.Group>
    </FormFrame>
  );
}

type Flat = EventKind extends infer K ? (K extends `${infer A}.${infer B}` ? `${A}_${B}` : never) : never;
