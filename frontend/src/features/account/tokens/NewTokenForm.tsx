import { Checkbox, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { NewToken, Scope } from '@/api/contract/accounts';
import { useProject, useProjects } from '@/shared/domain/project';
import { FormFrame } from '@/shared/forms/FormFrame';
import { ExpirySelect, expiresAt } from '../keys/ExpirySelect';
import { useCreateToken } from '../queries';

const SCOPES: Scope[] = ['read', 'push', 'write', 'admin'];

interface Values {
  name: string;
  scopes: Scope[];
  project: string | null;
  days: string;
}

export function toNewToken({ name, scopes, project, days }: Values, nowMs: number): NewToken {
  return { name: name.trim(), scopes, project, expires_at: expiresAt(days, nowMs) };
}

export function NewTokenForm({ onCreated, onCancel }: { onCreated: (secret: string) => void; onCancel: () => void }) {
  const { t } = useTranslation();
  const project = useProject();
  const projects = useProjects().data?.results ?? [];
  const { create } = useCreateToken();
  const form = useForm<Values>({
    initialValues: { name: '', scopes: ['read', 'write'], project, days: '90' },
    validate: {
      name: (value) => (value.trim() ? null : t('settings.required')),
      scopes: (value) => (value.length > 0 ? null : t('settings.noScope')),
    },
  });
  const send = async (values: Values) => onCreated((await create(toNewToken(values, Date.now()))).secret);
  return (
    <FormFrame form={form} send={send} submit={t('settings.create')} onCancel={onCancel}>
      <TextInput
        label={t('settings.tokenName')}
        description={t('settings.tokenNameHint')}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Checkbox.Group
        label={t('settings.scopes')}
        data-wrong={Boolean(form.errors.scopes)}
        {...form.getInputProps('scopes')}
      >
        <Stack gap="xs" mt={6} mb={6}>
          {SCOPES.map((scope) => (
            <Checkbox
              key={scope}
              size="xs"
              value={scope}
              label={t(`settings.scope_${scope}`)}
              description={t(`settings.scope_${scope}Hint`)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label={t('settings.project')}
          description={t('settings.projectHint')}
          placeholder={t('settings.allProjects')}
          data={projects.map(({ slug, name }) => ({ value: slug, label: name || slug }))}
          clearable
          clearButtonProps={{ 'aria-label': t('common.clear') }}
          {...form.getInputProps('project')}
        />
        <ExpirySelect {...form.getInputProps('days')} />
      </SimpleGrid>
    </FormFrame>
  );
}
