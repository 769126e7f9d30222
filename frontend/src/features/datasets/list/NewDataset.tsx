import { Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { asApiError } from '@/api/errors';
import { ErrorState } from '@/shared/ErrorState';
import { notifySuccess } from '@/shared/undo';
import { useCreateDataset } from '../queries';

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

export function NewDataset({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { create, isPending, error, reset } = useCreateDataset();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', description: '' },
    validate: { name: (value) => (NAME.test(value) ? null : t('datasets.nameInvalid')) },
  });
  const close = () => {
    form.reset();
    reset();
    onClose();
  };
  const submit = form.onSubmit(async (values) => {
    try {
      const { name } = await create(values);
      notifySuccess(t('datasets.created', { name }));
      close();
      await navigate({ to: '/datasets/$name', params: { name } });
    } catch (thrown) {
      form.setErrors(asApiError(thrown).fields);
    }
  });
  const fieldErrors = error ? Object.keys(asApiError(error).fields).length > 0 : false;
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={t('datasets.new')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          {error && !fieldErrors && <ErrorState error={error} compact />}
          <TextInput
            label={t('datasets.name')}
            description={t('datasets.nameHint')}
            data-autofocus
            autoComplete="off"
            key={form.key('name')}
            {...form.getInputProps('name')}
          />
          <Textarea
            label={t('datasets.description')}
            autosize
            minRows={2}
            key={form.key('description')}
            {...form.getInputProps('description')}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common.cancel')}
            </Button>
            <Button type="submit" loading={isPending}>
              {t('common.create')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
