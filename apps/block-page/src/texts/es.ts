import type { Texts } from './texts.js';

export const es: Texts = {
  direction: 'ltr',
  blockedTitle: 'Este sitio está bloqueado',
  blockedText: 'Sus propios ajustes de filtrado para esta conexión a internet bloquean este sitio.',
  blockedByLawTitle: 'Este sitio está bloqueado por ley',
  blockedByLawText:
    'Su proveedor de internet está obligado a bloquear este sitio para todos sus ' +
    'clientes. Sus ajustes de filtrado no cambian nada.',
  blockedForEverybodyTitle: 'Este sitio está bloqueado para todos',
  blockedForEverybodyText:
    'Su proveedor de internet bloquea este sitio para todos sus clientes. Sus ajustes de ' +
    'filtrado no cambian nada.',
  notBlockedTitle: 'Este sitio no está bloqueado',
  notBlockedText:
    'Sus ajustes de filtrado no bloquean este sitio en este momento. Si se acaba de ' +
    'permitir, puede que su dispositivo aún recuerde la respuesta anterior. Espere un minuto ' +
    'y vuelva a intentarlo.',
  noNameTitle: 'Esta es la página de los sitios bloqueados',
  noNameText: 'Esta página aparece en lugar de un sitio que sus ajustes de filtrado bloquean.',
  notReadyTitle: 'Este servicio se está iniciando',
  notReadyText: 'Todavía no conoce sus ajustes. Vuelva a intentarlo dentro de un minuto.',
  reasonLabel: 'Motivo',
  reasonCategory: 'Categoría bloqueada',
  reasonApplication: 'Aplicación bloqueada',
  reasonList: 'Su lista de sitios bloqueados',
  reasonGrant: 'Bloqueo temporal',
  reasonAllowListOnly: 'Solo se pueden abrir los sitios que usted ha permitido',
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
