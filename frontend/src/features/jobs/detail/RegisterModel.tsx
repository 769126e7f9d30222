import { Alert, Button, Group, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { Run } from '@/api/contract/jobs';
import { asApiError } from '@/api/errors';
import { fieldWords } from '@/shared/domain/problemWords';
import { useProject } from '@/shared/domain/project';
import { useRefused } from '@/shared/forms/useRefused';
import { ErrorState } from '@/shared/ui/ErrorState';
import { useFocusBack } from '@/shared/ui/focusBack';
import { registerModel, useFiles } from '../queries';
import { RegisteredVersions } from './RegisteredVersions';
import { isModelName, preferred, registrable } from './registrable';

/** Makes the run's model output, or one of its files, a version of a model. */
export function RegisterModel({ run, onClose }: { run: Run; onClose: () => void }) {
  const { t } = useTranslation();
  useFocusBack();
  const project = useProject();
  const navigate = useNavigate();
  const files = useFiles(run.id, false);
  const form = useForm({
    initialValues: { model: run.datasets[0]?.dataset ?? '', artifact: '', description: '' },
    validate: {
      model: (value) => (isModelName(value) ? null : t('runpage.register.badName')),
      artifact: (value) => (value ? null : t('runpage.register.noFile')),
    },
  });
  const [error, setError] = useRefused(form);
  const offered = registrable(files.data?.results ?? []);
  const first = preferred(offered);
  const { setFieldValue } = form;
  useEffect(() => {
    if (first) setFieldValue('artifact', (old) => old || first);
  }, [first, setFieldValue]);
  const { folder } = offered;
  const groups = [
    ...(folder
      ? [
          {
            group: t('runpage.register.wholeOutput'),
            items: [
              { value: folder.path, label: t('runpage.register.folder', { path: folder.path, count: folder.files }) },
            ],
          },
        ]
      : []),
    { group: t('runpage.register.singleFiles'), items: offered.files },
  ];
  const loose = folder !== null && form.values.artifact !== '' && form.values.artifact !== folder.path;

  const submit = form.onSubmit(async ({ model, artifact, description }) => {
    setError(null);
    try {
      const version = await registerModel(project, model, run.id, artifact, description);
      if (version)
        await navigate({ to: '/models/$name/versions/$n', params: { name: model, n: String(version.number) } });
    } catch (thrown) {
      form.setErrors(fieldWords(asApiError(thrown)));
      setError(thrown);
    }
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('jobs.registerModel')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <form onSubmit={submit}>
        <Stack>
          {run.model_versions.length > 0 && (
            <Alert variant="light" py={8}>
              {t('runpage.register.already')} <RegisteredVersions run={run} />
              <Text size="xs" c="dimmed" mt={2}>
                {t('runpage.register.alreadyHint')}
              </Text>
            </Alert>
          )}
          <TextInput
            label={t('runpage.register.model')}
            description={t('runpage.register.modelHint')}
            data-autofocus
            {...form.getInputProps('model')}
          />
          <Select
            label={t('runpage.register.output')}
            description={t(loose ? 'runpage.register.singleFileHint' : 'runpage.register.outputHint')}
            data={groups}
            searchable
            nothingFoundMessage={t('runpage.register.nothing')}
            {...form.getInputProps('artifact')}
          />
          <Textarea
            label={t('runpage.register.description')}
            autosize
            minRows={2}
            {...form.getInputProps('description')}
          />
          {error !== null && <ErrorState error={error} shownFields={Object.keys(form.values)} compact />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={form.submitting}>
              {t('runpage.register.submit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
