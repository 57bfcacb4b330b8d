import type { Texts } from './texts.js';

export const es: Texts = {
  direction: 'ltr',
  blocked: {
    title: 'Este sitio está bloqueado',
    text: 'Sus propios ajustes de filtrado para esta conexión a internet bloquean este sitio.',
  },
  blockedByLaw: {
    title: 'Este sitio está bloqueado por ley',
    text:
      'Su proveedor de internet está obligado a bloquear este sitio para todos sus ' +
      'clientes. Sus ajustes de filtrado no cambian nada.',
  },
  blockedForEverybody: {
    title: 'Este sitio está bloqueado para todos',
    text:
      'Su proveedor de internet bloquea este sitio para todos sus clientes. Sus ajustes de ' +
      'filtrado no cambian nada.',
  },
  notBlocked: {
    title: 'Este sitio no está bloqueado',
    text:
      'Sus ajustes de filtrado no bloquean este sitio en este momento. Si se acaba de ' +
      'permitir, puede que su dispositivo aún recuerde la respuesta anterior. Espere un minuto ' +
      'y vuelva a intentarlo.',
  },
  noName: {
    title: 'Esta es la página de los sitios bloqueados',
    text: 'Esta página aparece en lugar de un sitio que sus ajustes de filtrado bloquean.',
  },
  notReady: {
    title: 'Este servicio se está iniciando',
    text: 'Todavía no conoce sus ajustes. Vuelva a intentarlo dentro de un minuto.',
  },
  reasonLabel: 'Motivo',
  reason: {
    category: 'Categoría bloqueada',
    application: 'Aplicación bloqueada',
    list: 'Su lista de sitios bloqueados',
    grant: 'Bloqueo temporal',
    allowListOnly: 'Solo se pueden abrir los sitios que usted ha permitido',
  },
  authorityLabel: 'Ordenado por',
  referenceLabel: 'Referencia',
  leadsToLabel: 'Redirige a',
  scheduleLabel: 'Horario',
  scheduleUntil: 'Estos ajustes se aplican hasta',
  scheduleFrom: 'Próximo cambio de ajustes',
  incidentLabel: 'Número de incidencia',
  incidentHint:
    'Copie el número de incidencia si pide ayuda. Solo su proveedor puede leerlo, durante un día.',
  advice: 'La persona que administra los ajustes de filtrado puede permitir este sitio.',
  tryAgain: 'Volver a intentarlo',
  helpLabel: 'Ayuda',
  privacy: 'Esta página no usa cookies ni carga nada de otros servidores.',
};
