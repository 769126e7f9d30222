import { Modal, type ModalProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFocusBackToMenu } from './focusBack';

type DialogProps = Pick<ModalProps, 'opened' | 'onClose' | 'title' | 'size' | 'children'>;

/** A modal dialog. Its content lives only while it is open, so that each opening begins anew. */
export function Dialog({ opened, size = 'lg', children, ...rest }: DialogProps) {
  const { t } = useTranslation();
  useFocusBackToMenu(opened);
  return (
    <Modal opened={opened} size={size} closeButtonProps={{ 'aria-label': t('common.close') }} {...rest}>
      {opened && children}
    </Modal>
  );
}
