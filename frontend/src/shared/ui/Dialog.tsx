import { Modal, type ModalProps } from '@mantine/core';
import { createContext, type ReactNode, useContext, useLayoutEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useFocusBackToMenu } from './focusBack';

type DialogProps = Pick<ModalProps, 'opened' | 'onClose' | 'title' | 'size' | 'children'>;

const Holding = createContext<(holds: boolean) => void>(() => {});

/** A modal dialog. Its content lives only while it is open, so that each opening begins anew. */
export function Dialog({ opened, size = 'lg', children, ...rest }: DialogProps) {
  const { t } = useTranslation();
  const [isHeld, hold] = useState(false);
  useFocusBackToMenu(opened);
  return (
    <Modal
      opened={opened}
      size={size}
      closeOnClickOutside={!isHeld}
      closeOnEscape={!isHeld}
      withCloseButton={!isHeld}
      closeButtonProps={{ 'aria-label': t('common.close') }}
      {...rest}
    >
      <Holding value={hold}>{opened && children}</Holding>
    </Modal>
  );
}

/**
 * Content that cannot be shown again, such as a new token. While it is there its dialog closes only by a button of the
 * content: Escape or a click beside it would lose what nobody has copied yet.
 */
export function ShownOnce({ children }: { children: ReactNode }) {
  const hold = useContext(Holding);
  useLayoutEffect(() => {
    hold(true);
    return () => hold(false);
  }, [hold]);
  return children;
}
